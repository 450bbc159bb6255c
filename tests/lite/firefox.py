"""Headless Firefox, driven by WebDriver BiDi, which Firefox supports directly: no geckodriver, no build of Playwright's own.

with Firefox(profile_folder) as firefox:
    firefox.open("http://localhost:8000/")
    firefox.wait("document.title === 'Lessons'")
    firefox.evaluate("1 + 1")
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import websocket

STARTS_WITHIN = 60  # seconds


def find_firefox() -> str | None:
    """The Firefox of this machine."""
    return next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)


class Firefox:
    """A separate window with a separate profile, for the duration of a `with` block."""

    def __init__(self, profile: Path, preferences: dict[str, object] | None = None):
        self.profile = profile
        preferences = preferences or {}
        lines = (
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()
        )
        profile.mkdir(parents=True, exist_ok=True)
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")

    def __enter__(self) -> Self:
        command = [
            find_firefox(),
            "--headless",
            "--no-remote",
            "--remote-debugging-port=0",
            "--profile",
            self.profile,
        ]
        self.process = subprocess.Popen(
            [*command, "about:blank"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        output, limit = "", time.monotonic() + STARTS_WITHIN
        while not (address := re.search(r"BiDi listening on (ws://\S+)", output)):
            line = self.process.stderr.readline().decode(errors="replace")
            if not line or time.monotonic() > limit:
                self.process.kill()
                raise RuntimeError(f"Firefox did not start: {output[-500:]}")
            output += line
        self.socket = websocket.create_connection(f"{address[1]}/session", timeout=300, suppress_origin=True)
        self.number = 0
        self.ask("session.new", capabilities={})
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]
        return self

    def __exit__(self, *raised: object) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)
        self.process.stderr.close()

    def ask(self, method: str, **values: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": values}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]

    def open(self, address: str) -> None:
        """Go to a page, and wait until it has loaded."""
        self.ask("browsingContext.activate", context=self.context)
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
        result = self.ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify((await ({expression})) ?? null))()",
            target={"context": self.context},
            awaitPromise=True,
        )
        if result["type"] == "exception":
            raise RuntimeError(result["exceptionDetails"]["text"])
        return json.loads(result["result"]["value"])

    def wait(self, condition: str, seconds: float = 240) -> None:
        """Wait until the condition holds; navigating to another page meanwhile is not an error."""
        limit = time.monotonic() + seconds
        while True:
            try:
                if self.evaluate(f"Boolean({condition})"):
                    return
            except RuntimeError as error:
                if "script.evaluate" not in str(error):  # the page itself raised
                    raise
            if time.monotonic() > limit:
                raise TimeoutError(condition)
            time.sleep(0.3)
