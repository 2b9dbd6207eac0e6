"""Plots of results: every chart of the HTML report.

These functions draw with matplotlib, in the style of a paper, and return a
:class:`~matplotlib.figure.Figure`; :mod:`ftlab.plot.altair` has the same functions and returns interactive
charts for notebooks.

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
=====================  ==============================================================  ================
"""

from __future__ import annotations

import importlib
from types import ModuleType

from ftlab.plot._bars import moves, utilisation, wear
from ftlab.plot._flash import flash
from ftlab.plot._lines import cold_region, response, spread, waf

__all__ = ["cold_region", "flash", "moves", "response", "spread", "utilisation", "waf", "wear"]


def __getattr__(name: str) -> ModuleType:
    """Import ``altair`` on first use: Altair is optional, and takes a while to import."""
    if name == "altair":
        return importlib.import_module("ftlab.plot.altair")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
