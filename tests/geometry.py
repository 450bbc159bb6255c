"""What is wrong with the geometry of a drawn SVG: an arrow that passes under a label or over the caption of a frame, bends
sharply or is far from its label. Works for any drawing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np

from viz.read.text import width

SVG = "{http://www.w3.org/2000/svg}"
STEP = 4.0  # points; arrows are checked in pieces of this length
FURTHEST = 14.0  # points from an arrow to its label: a gradient takes more space than "grad"
SHARPEST = 60.0  # degrees, within three pieces


@dataclass
class Arrow:
    """An arrow: points on it at equal distances (x + iy), and its label with its centre and size."""

    who: str
    points: np.ndarray
    label: tuple[str, complex, complex] | None


def arrows(svg: str) -> list[Arrow]:
    """The arrows of a picture."""
    t = np.linspace(0, 1, 65)[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3])
    found = []
    for group in ET.fromstring(svg).iter(f"{SVG}g"):
        line = group.find(f"{SVG}path[@class='line']")
        if line is None:
            continue
        numbers = [float(x) for x in re.findall(r"-?[\d.]+", line.get("d", ""))]
        q = np.array(numbers[::2]) + 1j * np.array(numbers[1::2])
        way = np.concatenate([weights @ q[i : i + 4] for i in range(0, len(q) - 3, 3)])
        far = np.concatenate([[0.0], np.cumsum(abs(np.diff(way)))])
        even = np.linspace(0, far[-1], max(2, int(far[-1] / STEP)))
        plate, label = group.find(f".//{SVG}rect[@class='label-bg']"), None
        if plate is not None:
            x, y, w, h = (float(plate.get(key)) for key in ("x", "y", "width", "height"))
            label = group.find(f".//{SVG}text").text, complex(x + w / 2, y + h / 2), complex(w, h)
        points = np.interp(even, far, way.real) + 1j * np.interp(even, far, way.imag)
        found.append(Arrow(group.findtext(f"{SVG}title") or group.get("id", ""), points, label))
    return found


def faults(svg: str) -> list[str]:
    """Every arrow that passes under another's label or over a caption, turns sharply, or is far from its label."""
    found, every, groups = [], arrows(svg), list(ET.fromstring(svg).iter(f"{SVG}g"))
    lines = [i for i, group in enumerate(groups) if group.find(f"{SVG}path[@class='line']") is not None]
    plates = [  # captions with a background of their own, painted after the arrows
        (*group.itertext(), group.find(f"{SVG}text").get("x"))
        for group in groups[max(lines, default=0) :]
        if group.get("class") == "over" and group[0].tag == f"{SVG}rect" and group[0].get("fill")
    ]
    for text in [group.find(f"{SVG}text") for group in groups if group.get("class") == "cluster"]:
        half = width(text.text, float(text.get("font-size")), bold=True) / 2
        middle = complex(float(text.get("x")), float(text.get("y")) - 4)
        for arrow in every if (text.text, text.get("x")) not in plates else ():
            off = arrow.points - middle
            if ((abs(off.real) < half) & (abs(off.imag) < 6)).any():
                found.append(f"{arrow.who} passes over {text.text!r}")
    for arrow in every:
        for other in every:
            if other.label is None or other is arrow:
                continue
            text, middle, size = other.label
            off, room = arrow.points - middle, size / 2 - (2 + 2j)
            if ((abs(off.real) < room.real) & (abs(off.imag) < room.imag)).any():
                found.append(f"{arrow.who} passes under {text!r}")
        if arrow.label is not None:
            text, middle, _ = arrow.label
            off = arrow.points - middle
            beside, above = abs(off.real) - width(text, 10.0) / 2, abs(off.imag) - 5
            far = np.hypot(beside.clip(0), above.clip(0)).min()
            if far > FURTHEST:
                found.append(f"{arrow.who} is {far:.0f} points from {text!r}")
        turns = np.degrees(np.angle(np.diff(arrow.points)[1:] / np.diff(arrow.points)[:-1]))
        sharp = max(abs(np.convolve(turns, np.ones(3), "valid")), default=0.0) if len(turns) > 2 else 0.0
        if sharp > SHARPEST:
            found.append(f"{arrow.who} turns by {sharp:.0f} degrees at once")
    return found
