"""Workloads: skew, write intervals, footprint and a map of where writes go over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ftlab.plot._data import curve
from ftlab.plot._style import paper, single

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ftlab._requests import Inspection

__all__ = ["footprint", "heat_map", "intervals", "skew"]

LINE, HEAT = "#0072b2", "cividis"


@paper
def skew(found: Inspection, ax: Axes | None = None) -> Figure:
    """Draw the skew of a workload: the share of page writes that goes to the most-written pages.

    Parameters
    ----------
    found : Inspection
        What :func:`ftlab.inspect` found.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure as wide as a column of a paper.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; the diagonal is what a uniform workload has.

    Examples
    --------
    >>> import ftlab
    >>> found = ftlab.inspect("zipf:theta=0.9", drive="64MiB", writes=100_000)
    >>> ftlab.plot.skew(found).savefig("skew.pdf")
    """
    figure, axes = single(ax)
    pages, writes = curve(found, "skew", "pages", "writes")
    axes.plot([0, 1], [0, 1], color="#b0b0b0", linewidth=0.7)
    axes.plot(np.append(0, pages), np.append(0, writes), color=LINE)
    axes.set(xlabel="pages, the most-written first", ylabel="page writes", xlim=(0, 1), ylim=(0, 1.02))
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.yaxis.set_major_formatter("{x:.0%}")
    return figure


@paper
def intervals(found: Inspection, ax: Axes | None = None) -> Figure:
    """Draw write intervals: the share of page writes whose page was written again within an interval.

    Parameters
    ----------
    found : Inspection
        What :func:`ftlab.inspect` found.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure, axes = single(ax)
    lengths, shares = curve(found, "intervals", "page_writes", "share")
    axes.plot(lengths, shares, color=LINE)
    axes.set(xscale="log", xlabel="page writes since the last of that page", ylim=(0, 1.02))
    axes.set_ylabel("write intervals up to this")
    axes.yaxis.set_major_formatter("{x:.0%}")
    return figure


@paper
def footprint(found: Inspection, ax: Axes | None = None) -> Figure:
    """Draw the footprint: pages written so far, and those that hold data, by page writes.

    Parameters
    ----------
    found : Inspection
        What :func:`ftlab.inspect` found.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure, axes = single(ax)
    gibibytes = found["page_bytes"] / 2**30
    for column, label, colour, style in (
        ("written_pages", "written so far", LINE, "-"),
        ("holding_pages", "hold data", "#d55e00", "--"),
    ):
        writes, pages = curve(found, "footprint", "page_writes", column)
        axes.plot(writes * gibibytes, pages * gibibytes, label=label, color=colour, linestyle=style)
    axes.set(xlabel="written (GiB)", ylabel="pages (GiB)")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure


@paper
def heat_map(found: Inspection, ax: Axes | None = None) -> Figure:
    """Draw where writes go over time: page writes by address and moment, darker where there are fewer.

    Parameters
    ----------
    found : Inspection
        What :func:`ftlab.inspect` found.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; cells without writes are white.
    """
    figure, axes = single(ax)
    cells = found["heat_map"]
    curve(found, "heat_map", "from_page", "page_writes")
    writes = np.array(cells["columns"], float).T
    gibibytes = found["page_bytes"] / 2**30
    right = writes.shape[1] * cells["column_writes"] * gibibytes
    top = cells["rows"] * cells["row_pages"] * gibibytes
    image = axes.imshow(
        np.ma.masked_equal(writes, 0),
        origin="lower",
        aspect="auto",
        extent=(0, right, 0, top),
        cmap=HEAT,
        norm="log",
        interpolation="nearest",
    )
    axes.grid(visible=False)
    axes.set(xlabel="written (GiB)", ylabel="address (GiB)")
    figure.colorbar(image, ax=axes, label="page writes")
    return figure
