"""The laboratory for flash translation layers (FTLs).

ftlab simulates, compares and explains how FTLs amplify writes.

Examples
--------
>>> import ftlab
>>> result = ftlab.run("zipf:theta=0.9", ["1r-greedy", "2r++"], drive="64MiB", fill="random")
>>> figure = ftlab.plot.waf(result)
"""

from __future__ import annotations

from ftlab import errors, plot
from ftlab._core import __version__
from ftlab._drive import Drive
from ftlab._progress import Status
from ftlab._result import Result
from ftlab._run import run
from ftlab._workload import Trace
from ftlab.errors import FtlabError

__all__ = [
    "Drive",
    "FtlabError",
    "Result",
    "Status",
    "Trace",
    "__version__",
    "errors",
    "plot",
    "run",
]
