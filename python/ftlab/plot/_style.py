"""How plots look: small, for a column of a paper, and readable for colour-blind readers.

All that plots use of matplotlib is imported from here.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from ftlab import _core
from ftlab._lazy import needs
from ftlab.plot._colours import PALETTE

try:
    import matplotlib as mpl
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
except ImportError as error:
    raise needs("ftlab.plot", "matplotlib", "plot", error) from None

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "COLUMN_INCHES",
    "PaperFigure",
    "Patch",
    "legend",
    "panels",
    "paper",
    "region_legend",
    "single",
    "strokes",
    "to_rgb",
]

DASHES = ["-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5))]
"""Dashes distinguish FTLs that share a colour."""

COLUMN_INCHES = 3.4
"""The width of a column of a paper."""

_PAPER: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.7,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "figure.dpi": 200,
}

Parameters = ParamSpec("Parameters")


class PaperFigure(Figure):
    """A figure that notebooks show although it is not managed by pyplot."""

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()


def paper(draw: Callable[Parameters, Figure]) -> Callable[Parameters, Figure]:
    """Draws in the style of a paper."""

    @wraps(draw)
    def styled(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Figure:
        with mpl.rc_context(_PAPER):
            return draw(*args, **kwargs)

    return styled


def single(axes: Axes | None) -> tuple[Figure, Axes]:
    """The axes to draw on: those given, or those of a new figure."""
    if axes is None:
        own = PaperFigure(figsize=(COLUMN_INCHES, 2.2), layout="constrained")
        return own, own.subplots()
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure, axes


def panels(titles: list[str], regions: int = 0, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with one set of axes per FTL, three in a row.

    There is room below them for a legend of this many regions.
    """
    height = 1.8 + 0.14 * -(-regions // 2)
    columns = min(len(titles), 3)
    rows = -(-len(titles) // columns)
    width = COLUMN_INCHES if columns == 1 else 2.3 * columns
    figure = PaperFigure(figsize=(width, height * rows + 0.2), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, **options)
    every = list(grid.flat)
    for axes in every[len(titles) :]:
        axes.set_visible(False)
    for axes, title in zip(every, titles, strict=False):
        axes.set_title(title)
    return figure, every[: len(titles)]


def legend(axes: Axes) -> None:
    """Adds a legend above the axes, which become taller."""
    names = [str(line.get_label()) for line in axes.lines]
    columns = min(max(_LINE_LETTERS // (max(map(len, names)) + _KEY_LETTERS), 1), 3)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns, handlelength=1.8)
    figure = axes.figure
    if isinstance(figure, PaperFigure):
        figure.set_figheight(figure.get_figheight() + 0.15 * -(-len(names) // columns))


_LINE_LETTERS, _KEY_LETTERS = 66, 8
"""Width of a paper column, and of a key with its gap, in letters of the legend's size."""


def region_legend(axes: Axes, keys: list[Patch] | None = None, *, below: float) -> None:
    """Adds a legend of the regions, below the axes by that share of their height."""
    handles = axes.get_legend_handles_labels()[0] if keys is None else keys
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -below),
        borderaxespad=0,
        ncols=2,
        handlelength=1,
        columnspacing=1,
    )


def strokes(ftls: list[str]) -> list[dict[str, Any]]:
    """Colours and dashes of the lines of FTLs that are drawn together, the same in all figures."""
    return [
        {"color": PALETTE[colour], "linestyle": DASHES[dash % len(DASHES)]}
        for colour, dash in _core.styles(ftls)
    ]
