"""The laboratory for flash translation layers (FTLs).

ftlab simulates, compares and explains how FTLs amplify writes.

Examples
--------
>>> import ftlab
>>> result = ftlab.run("zipf:theta=0.9", ["1r-greedy", "2r++"], drive="1GiB", fill="random")
>>> figure = ftlab.plot.waf(result)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ftlab._lazy import lazily

if TYPE_CHECKING:
    from ftlab import errors, model, plot
    from ftlab._advise import Advice, advise
    from ftlab._compare import Scoreboard, compare
    from ftlab._core import DriveView, Hint, __version__
    from ftlab._curve import Curves, curve
    from ftlab._drive import Drive
    from ftlab._fleet import Fleet, fleet
    from ftlab._latency_fit import LatencyFit, fit_latency
    from ftlab._mapping_cache import MapAdvice, mapping_cache
    from ftlab._own import register
    from ftlab._parameter import Parameter, parameter
    from ftlab._policy import FitContext, Policy, Stream
    from ftlab._progress import Status, SweepStatus, TuneStatus
    from ftlab._registry import Entry, formats, ftls, generators, parts, timings
    from ftlab._requests import Inspection, generate, inspect
    from ftlab._result import Result, Run
    from ftlab._run import run
    from ftlab._sweep import Failure, Sweep, sweep
    from ftlab._tune import tune
    from ftlab._tuning import Trial, Tuning, Validation
    from ftlab._workload import Trace
    from ftlab.errors import FtlabError
else:
    __getattr__ = lazily(
        __name__,
        {
            "_advise": ("Advice", "advise"),
            "_compare": ("Scoreboard", "compare"),
            "_core": ("DriveView", "Hint", "__version__"),
            "_curve": ("Curves", "curve"),
            "_drive": ("Drive",),
            "_fleet": ("Fleet", "fleet"),
            "_latency_fit": ("LatencyFit", "fit_latency"),
            "_mapping_cache": ("MapAdvice", "mapping_cache"),
            "_own": ("register",),
            "_parameter": ("Parameter", "parameter"),
            "_policy": ("FitContext", "Policy", "Stream"),
            "_progress": ("Status", "SweepStatus", "TuneStatus"),
            "_registry": ("Entry", "formats", "ftls", "generators", "parts", "timings"),
            "_requests": ("Inspection", "generate", "inspect"),
            "_result": ("Result", "Run"),
            "_run": ("run",),
            "_sweep": ("Failure", "Sweep", "sweep"),
            "_tune": ("tune",),
            "_tuning": ("Trial", "Tuning", "Validation"),
            "_workload": ("Trace",),
            "errors": ("FtlabError", "errors"),
            "model": ("model",),
            "plot": ("plot",),
        },
    )

__all__ = [
    "Advice",
    "Curves",
    "Drive",
    "DriveView",
    "Entry",
    "Failure",
    "FitContext",
    "Fleet",
    "FtlabError",
    "Hint",
    "Inspection",
    "LatencyFit",
    "MapAdvice",
    "Parameter",
    "Policy",
    "Result",
    "Run",
    "Scoreboard",
    "Status",
    "Stream",
    "Sweep",
    "SweepStatus",
    "Trace",
    "Trial",
    "TuneStatus",
    "Tuning",
    "Validation",
    "__version__",
    "advise",
    "compare",
    "curve",
    "errors",
    "fit_latency",
    "fleet",
    "formats",
    "ftls",
    "generate",
    "generators",
    "inspect",
    "mapping_cache",
    "model",
    "parameter",
    "parts",
    "plot",
    "register",
    "run",
    "sweep",
    "timings",
    "tune",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
