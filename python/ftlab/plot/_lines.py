"""Lines: write amplification and the cold region over time, response times, spread of cold pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ftlab._tables import cell_bytes, frames
from ftlab.plot._colours import COLD
from ftlab.plot._data import drawn, observed_ftls
from ftlab.plot._style import legend, panels, paper, single, strokes

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ftlab._result import Result

__all__ = ["cold_region", "response", "spread", "waf"]


def _lines(axes: Axes, result: Result, rows: pa.Table, x: str, y: str) -> None:
    """A line per FTL that has rows, in colours that are the same in all plots."""
    names = rows["ftl"].to_numpy(zero_copy_only=False)
    ftls = [run["ftl"] for run in result["runs"]]
    for ftl, stroke in zip(ftls, strokes(ftls), strict=True):
        own = names == ftl
        if not own.any():
            continue
        xs, ys = (rows[column].to_numpy(zero_copy_only=False)[own] for column in (x, y))
        marker = "o" if len(xs) == 1 else None
        axes.plot(xs, ys, label=ftl, marker=marker, markersize=3, **stroke)
    legend(axes)


@paper
def waf(result: Result, ax: Axes | None = None) -> Figure:
    """Draw write amplification over time: of each interval, by drive writes.

    Parameters
    ----------
    result : Result
        The result of a run.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure as wide as a column of a paper.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; ``savefig("waf.pdf")`` saves it.

    See Also
    --------
    ftlab.run : its `interval` sets how fine the line is.

    Examples
    --------
    >>> import ftlab
    >>> result = ftlab.run("zipf:theta=0.9", ["1r-greedy", "2r++"], drive="1GiB", fill="random")
    >>> ftlab.plot.waf(result).savefig("waf.svg")
    """
    figure, axes = single(ax)
    rows = drawn(result, "series", "waf", "give run a smaller interval")
    _lines(axes, result, rows, "drive_writes", "waf")
    axes.set(xlabel="drive writes", ylabel="write amplification")
    axes.set_ylim(bottom=1)
    return figure


@paper
def cold_region(result: Result, ax: Axes | None = None) -> Figure:
    """Draw the cold region over time: its share of the blocks, by drive writes.

    After figure 10 of the 2R paper (Kang et al., PVLDB 2020).

    Parameters
    ----------
    result : Result
        The result of a run, with an FTL that has a cold region, such as ``"2r++"``.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure, axes = single(ax)
    remedy = "run one with a cold region, such as 2r++"
    rows = drawn(result, "series", "cold_region_share", remedy)
    _lines(axes, result, rows, "drive_writes", "cold_region_share")
    axes.set(xlabel="drive writes", ylabel="cold region, share of blocks", ylim=(0, 1))
    axes.yaxis.set_major_formatter("{x:.0%}")
    return figure


@paper
def response(result: Result, ax: Axes | None = None) -> Figure:
    """Draw response times: the share of host writes that take longer, on two logarithmic axes.

    Parameters
    ----------
    result : Result
        The result of a run with `timing`.
    ax : matplotlib.axes.Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib.figure.Figure
        The figure. Percentiles are where a line crosses: p99 at 1%.
    """
    figure, axes = single(ax)
    rows = drawn(result, "responses", "response_ns", 'run with timing, such as "slc"')
    times = rows["response_ns"].to_numpy() / 1e6
    rows = rows.append_column("milliseconds", [times]).filter(rows["longer_share"].to_numpy() > 0)
    _lines(axes, result, rows, "milliseconds", "longer_share")
    axes.set(xscale="log", yscale="log", ylabel="share of writes that take longer")
    axes.set_xlabel("response time (ms)")
    return figure


@paper
def spread(result: Result, moments: int = 5) -> Figure:
    """Draw whether cold pages spread: cold pages of each block, in ascending order, a panel per FTL.

    After figure 4 of the 2R paper (Kang et al., PVLDB 2020). A line that is flat and then rises steeply
    tells that cold pages fill blocks of their own; a slope, that they are mixed with others.

    Parameters
    ----------
    result : Result
        The result of a run with ``observe=True``.
    moments : int, default 5
        Points in time from the beginning to the end, later ones darker.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    ftls = observed_ftls(result)
    figure, every = panels(ftls, sharex=True, sharey=True)
    for axes, ftl in zip(every, ftls, strict=True):
        own = [(frame, key) for run, frame, key in frames(result) if run["ftl"] == ftl]
        chosen = np.unique(np.linspace(0, len(own) - 1, max(moments, 1)).round().astype(int))
        for number, index in enumerate(chosen):
            frame, key = own[index]
            shares = cell_bytes(frame["cold_percentiles"]) / 255
            strength = 0.25 + 0.75 * (number + 1) / len(chosen)
            label = f"{key['drive_writes']:.3g} drive writes"
            places = np.arange(len(shares)) / 100
            axes.plot(places, shares, color=COLD, alpha=strength, label=label)
        axes.set(xlim=(0, 1), ylim=(0, 1.02))
        axes.xaxis.set_major_formatter("{x:.0%}")
        axes.yaxis.set_major_formatter("{x:.0%}")
    handles, labels = every[0].get_legend_handles_labels()
    columns = min(len(labels), 3 * len(ftls))
    figure.legend(
        handles, labels, loc="outside upper center", ncols=columns, handlelength=1.2, columnspacing=1
    )
    figure.supxlabel("blocks, in ascending order", fontsize=8)
    figure.supylabel("cold pages of the block", fontsize=8)
    return figure
