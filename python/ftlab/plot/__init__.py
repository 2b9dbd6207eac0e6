"""Plots of results and of inspections: every chart of the HTML report.

These functions draw with matplotlib, in the style of a paper, and return a
:class:`~matplotlib.figure.Figure`, which notebooks show. ``pip install 'ftlab[plot]'`` installs matplotlib.

=====================  ==============================================================  ================
function               what it shows                                                   needs
=====================  ==============================================================  ================
:func:`waf`            write amplification over time
:func:`cold_region`    share of blocks in cold streams, over time
:func:`wear`           erases per block
:func:`response`       response times                                                  ``timing=...``
:func:`flash`          the flash itself: a cell per erase block                        ``observe=True``
:func:`spread`         whether cold pages spread                                       ``observe=True``
:func:`utilisation`    how full blocks are, by region                                  ``observe=True``
:func:`moves`          what is moved, by how long it lasts                             ``observe=True``
:func:`skew`           how much of the writes goes to how many pages                   an inspection
:func:`intervals`      how long until a page is written again                          an inspection
:func:`footprint`      pages written so far                                            an inspection
:func:`heat_map`       where writes go over time                                       an inspection
=====================  ==============================================================  ================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftlab._lazy import lazily

if TYPE_CHECKING:
    from ftlab.plot._bars import moves, utilisation, wear
    from ftlab.plot._flash import flash
    from ftlab.plot._inspection import footprint, heat_map, intervals, skew
    from ftlab.plot._lines import cold_region, response, spread, waf
else:
    __getattr__ = lazily(
        __name__,
        {
            "_bars": ("moves", "utilisation", "wear"),
            "_flash": ("flash",),
            "_inspection": ("footprint", "heat_map", "intervals", "skew"),
            "_lines": ("cold_region", "response", "spread", "waf"),
        },
    )

__all__ = [
    "cold_region",
    "flash",
    "footprint",
    "heat_map",
    "intervals",
    "moves",
    "response",
    "skew",
    "spread",
    "utilisation",
    "waf",
    "wear",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
