"""Bars: how full blocks are, what is moved, and wear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ftlab._tables import table
from ftlab.plot._colours import KINDS, PALETTE, region_colours
from ftlab.plot._data import at_moment, drawn, observed_ftls
from ftlab.plot._style import COLUMN_INCHES, PaperFigure, panels, paper, region_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ftlab._result import Result

__all__ = ["moves", "utilisation", "wear"]


@paper
def utilisation(result: Result, at: float | None = None) -> Figure:
    """Draw how full blocks are: blocks by valid share and region, a panel per FTL.

    After figure 9 of the 2R paper (Kang et al., PVLDB 2020).

    Parameters
    ----------
    result : Result
        The result of a run with ``observe=True``.
    at : float, optional
        The time in drive writes; by default the end.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; the number of blocks is on a logarithmic axis.
    """
    ftls = observed_ftls(result)
    rows = at_moment(result, "utilisation", at).to_pylist()
    colours = {run["ftl"]: region_colours(run["streams"]) for run in result["runs"]}
    figure, every = panels(ftls, len(max(colours.values(), key=len)), sharex=True, sharey=True)
    for axes, ftl in zip(every, ftls, strict=True):
        streams: dict[str, list[tuple[float, int]]] = {}
        for row in rows:
            if row["ftl"] == ftl:
                streams.setdefault(row["stream"], []).append((row["valid_share"], row["blocks"]))
        used = {name: bins for name, bins in streams.items() if any(n for _, n in bins)}
        for place, (name, bins) in enumerate(used.items()):
            shares, blocks = np.array(bins).T
            wide = 0.045 / len(used)
            left = shares + 0.0025 + place * wide
            axes.bar(left, blocks, wide, align="edge", label=name, color=colours[ftl][name])
        axes.set_yscale("log")
        axes.set(xlim=(0, 1), ylim=(0.7, None))
        axes.xaxis.set_major_formatter("{x:.0%}")
        if len(used) > 1:
            region_legend(axes, below=0.16)
    figure.supxlabel("valid pages of the block", fontsize=8)
    figure.supylabel("blocks", fontsize=8)
    return figure


def _rows(ftls: list[str]) -> tuple[Figure, Axes]:
    """Axes with one row per FTL, from top to bottom."""
    height = 0.7 + 0.28 * len(ftls)
    figure = PaperFigure(figsize=(COLUMN_INCHES, height), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(ftls)), ftls)
    axes.set_ylim(len(ftls) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    return figure, axes


@paper
def moves(result: Result) -> Figure:
    """Draw what is moved: pages moved per host page, by their lifetime.

    A version of a page that is overwritten or trimmed within a tenth of a drive write was hot, within
    two tenths warm, later cold; one that is valid at the end was frozen or, if it is younger than two
    tenths, undecided. After section 3.1 of the 2R paper (Kang et al., PVLDB 2020).

    Parameters
    ----------
    result : Result
        The result of a run with ``observe=True``.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    rows = drawn(result, "moves", "pages", "run with observe=True").to_pylist()
    ftls = list(dict.fromkeys(row["ftl"] for row in rows))
    figure, axes = _rows(ftls)
    ends = np.zeros(len(ftls))
    for kind, colour in KINDS.items():
        parts = np.array([row["per_host_write"] for row in rows if row["kind"] == kind])
        axes.barh(range(len(ftls)), parts, left=ends, color=colour, label=kind, height=0.6)
        ends += parts
    axes.set_xlabel("pages moved per host page")
    figure.legend(loc="outside upper center", ncols=len(KINDS), columnspacing=1, handlelength=1)
    return figure


@paper
def wear(result: Result) -> Figure:
    """Draw wear: erases per block, from the least to the most worn, with the mean marked.

    Parameters
    ----------
    result : Result
        The result of a run; with `endurance`, the terabytes that the host can write are shown.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    rows = table(result, "runs").to_pylist()
    figure, axes = _rows([row["ftl"] for row in rows])
    most = max(row["erases_max"] for row in rows)
    for place, row in enumerate(rows):
        low, mean, high = (row[f"erases_{name}"] for name in ("min", "mean", "max"))
        axes.plot([low, high], [place, place], color=PALETTE[5], linewidth=5, solid_capstyle="butt")
        axes.plot(mean, place, "o", color=PALETTE[2], markersize=5)
        said = f" {row['tbw']:.3g} TB written" if "tbw" in row else f" Gini {row['erases_gini']:.3f}"
        axes.annotate(said, (high, place), va="center", fontsize=7)
    axes.set(xlim=(0, 1.4 * most), xlabel="erases per block: least, mean, most")
    return figure
