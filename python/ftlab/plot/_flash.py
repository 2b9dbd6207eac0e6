"""The flash as a picture: a cell per erase block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ftlab._tables import FREE, cell_bytes
from ftlab.plot._colours import COLD, INVALID, YOUNG, region_colours
from ftlab.plot._data import nearest_frame, observed_ftls
from ftlab.plot._style import Patch, panels, paper, region_legend, to_rgb

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ftlab._result import Result

__all__ = ["flash"]

SIDE, STRIP, GAP = 14, 3, 2
"""Pixels of a cell, of the strip on top that shows its region, and between cells."""

Image = npt.NDArray[np.float64]


@paper
def flash(result: Result, at: float | None = None, *, sort: bool = True) -> Figure:
    """Draw the flash itself: a cell per erase block, a panel per FTL.

    A cell is filled from below with its cold pages, its younger pages and its invalid pages; the strip
    on top shows its region, and erased blocks are empty. A page is cold if at least two tenths of a drive
    write have passed since it was written.

    Parameters
    ----------
    result : Result
        The result of a run with ``observe=True``.
    at : float, optional
        The time in drive writes; by default the end.
    sort : bool, default True
        Puts cold regions and cold blocks first; otherwise blocks are in numerical order.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    ftls = observed_ftls(result)
    strips = {run["ftl"]: region_colours(run["streams"]) for run in result["runs"]}
    figure, every = panels(ftls, len(max(strips.values(), key=len)))
    for axes, ftl in zip(every, ftls, strict=True):
        frame = nearest_frame(result, ftl, at)
        image = _picture(frame, strips[ftl], sort=sort)
        axes.imshow(image, interpolation="antialiased", aspect="equal")
        axes.set_axis_off()
        keys = [Patch(color=colour, label=name) for name, colour in strips[ftl].items()]
        if len(keys) > 1:
            region_legend(axes, keys, below=0.02)
    keys = [Patch(color=COLD, label="cold pages"), Patch(color=YOUNG, label="younger pages")]
    keys.append(Patch(color=INVALID, label="invalid pages"))
    figure.legend(handles=keys, loc="outside upper center", ncols=3)
    return figure


def _picture(frame: Mapping[str, Any], strips: Mapping[str, str], *, sort: bool) -> Image:
    region, valid, cold = (cell_bytes(frame[name]) for name in ("region", "valid", "cold"))
    order = np.arange(len(region))
    if sort:
        order = np.lexsort((-valid.astype(int), -cold.astype(int), -region.astype(int)))
        used = region[order] < FREE
        order = np.concatenate([order[used], order[~used]])
    columns = max(1, round(np.sqrt(1.2 * len(order))))
    rows = -(-len(order) // columns)
    image = np.ones((rows * SIDE, columns * SIDE, 3))
    colours = [to_rgb(colour) for colour in strips.values()]
    for place, cell in enumerate(order):
        if region[cell] < FREE:
            top, left = place // columns * SIDE, place % columns * SIDE
            part = image[top : top + SIDE - GAP, left : left + SIDE - GAP]
            _fill(part, valid[cell] / 255, cold[cell] / 255, colours[region[cell]])
    return image


def _fill(part: Image, valid: float, cold: float, strip: tuple[float, float, float]) -> None:
    """Fills a cell from below."""
    pages = part[STRIP:]
    height = len(pages)
    pages[:] = to_rgb(INVALID)
    pages[height - round(height * valid) :] = to_rgb(YOUNG)
    pages[height - round(height * cold) :] = to_rgb(COLD)
    part[: STRIP - 1] = strip
