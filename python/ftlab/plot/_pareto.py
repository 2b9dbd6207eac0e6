"""Write amplification against metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftlab.plot._colours import PALETTE
from ftlab.plot._style import paper, single

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ftlab._tuning import Trial, Tuning

__all__ = ["pareto"]

DECADE = 10
"""Metadata that differs by more than this factor is drawn on a logarithmic axis."""


@paper
def pareto(tuning: Tuning, ax: Axes | None = None) -> Figure:
    """Draw the trials of a search, the best of them, the default and the budget."""
    figure, axes = single(ax)
    trials = [trial for trial in tuning.trials if trial.waf is not None]
    axes.scatter(*_points(trials), s=8, color="#b4b4b4", linewidths=0, label="trials")
    front = _points(tuning.pareto)
    axes.step(*front, where="post", color=PALETTE[2], marker="o", markersize=3, label="Pareto front")
    axes.scatter(*_points([tuning.default]), s=28, color="black", marker="x", label="default")
    axes.scatter(*_points([tuning.best]), s=34, color=PALETTE[0], marker="*", zorder=3, label="best")
    if tuning.budget_bytes is not None:
        axes.axvline(tuning.budget_bytes / 1024, color=PALETTE[3], linestyle="--", label="budget")
    sizes = _points([*trials, tuning.default])[0]
    if min(sizes) > 0 and max(sizes) > DECADE * min(sizes):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="metadata (KiB)", ylabel="write amplification")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def _points(trials: list[Trial]) -> tuple[list[float], list[float]]:
    """Metadata in KiB and write amplification."""
    return [(t.metadata_bytes or 0) / 1024 for t in trials], [t.waf or 0 for t in trials]
