"""The project's URLs, from the repository that it is built from: the package of a fork points at the fork.

Hatchling runs this when it builds a wheel, an sdist or an editable install.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Urls(MetadataHookInterface):
    """Fill in ``project.urls``."""

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["urls"] = urls(origin(self.root))


def origin(root: str) -> str:
    """Where this clone was cloned from; "" outside a clone."""
    asked = ["git", "-C", root, "config", "--get", "remote.origin.url"]
    try:
        return subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    except OSError:  # there is no git
        return ""


def urls(address: str) -> dict[str, str]:
    """The links of a package index's page, for a repository that is on the web.

    >>> urls("git@github.com:someone/see-autograd.git")["Source"]
    'https://github.com/someone/see-autograd'
    """
    found = re.fullmatch(
        r"(?:https://(?:[^@/]+@)?|git@|ssh://git@)([\w.-]+\.\w+)[:/](.+?)(?:\.git)?/?", address
    )
    if not found:
        return {}
    home = f"https://{found[1]}/{found[2]}"
    links = {"Source": home, "Issues": f"{home}/issues", "Changelog": f"{home}/blob/main/CHANGELOG.md"}
    owner, _, name = found[2].partition("/")
    if found[1] == "github.com":
        links |= {
            "Homepage": f"https://{owner.lower()}.github.io/{name}/",
            "Documentation": f"{home}/tree/main/docs",
        }
    return links
