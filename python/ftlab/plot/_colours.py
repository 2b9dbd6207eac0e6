"""The colours of plots, readable for the colour-blind."""

from __future__ import annotations

from typing import Any

import numpy as np

from ftlab import _core

__all__ = ["COLD", "INVALID", "KINDS", "PALETTE", "YOUNG", "region_colours"]

PALETTE = ["#{:02x}{:02x}{:02x}".format(*colour) for colour in _core.palette()]
"""Colours that colour-blind readers can tell apart (Okabe and Ito, 2008)."""

COLD, YOUNG, INVALID = "#2f7fc1", "#e8963a", "#e3e0d8"
"""What is in a block: cold pages, younger pages, invalid pages."""

KINDS = {
    "hot": "#d55e00",
    "warm": "#e69f00",
    "cold": "#56b4e9",
    "frozen": "#0072b2",
    "undecided": "#8c8c8c",
}
"""Classes of pages moved."""

_COLD_SCALE = ["#08458a", "#1e6db2", "#4695c8", "#7db8da", "#b7d4ea"]
"""From dark to light blue."""

_OTHER_SCALE = ["#fbd724", "#f99a3e", "#e3685f", "#c03a83", "#8f0da4"]
"""From yellow through red to purple."""


def region_colours(streams: list[dict[str, Any]]) -> dict[str, str]:
    """The colour of each region: cold ones are blue, others grey and warm, or a scale if there are many."""
    cold = [stream["name"] for stream in streams if stream["cold"]]
    other = [stream["name"] for stream in streams if not stream["cold"]]
    colours = _colours(cold, ["#0072b2", "#56b4e9", "#00406b"], _COLD_SCALE)
    colours |= _colours(other, ["#6f6f6f", "#cc79a7", "#e69f00"], _OTHER_SCALE)
    return {stream["name"]: colours[stream["name"]] for stream in streams}


def _colours(names: list[str], few: list[str], scale: list[str]) -> dict[str, str]:
    """A colour for each name: one of a few, or from a scale if there are more names."""
    if len(names) > len(few):
        few = _along(scale, len(names))
    return dict(zip(names, few, strict=False))


def _along(scale: list[str], count: int) -> list[str]:
    """That many colours at equal distances along a scale, ends included."""
    points = np.linspace(0, len(scale) - 1, count)
    channels = np.array([list(bytes.fromhex(colour[1:])) for colour in scale]).T
    mixed = [np.interp(points, range(len(scale)), channel).round().astype(int) for channel in channels]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*mixed, strict=True)]
