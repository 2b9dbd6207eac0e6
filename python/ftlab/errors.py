"""The tree of exceptions.

Every message names the value, the limit and the remedy::

    FtlabError
    ├── ParameterError (ValueError)    an unknown name, or an invalid value
    │   └── DriveError                 a drive on which the FTL cannot work
    ├── WorkloadError                  the writes do not fit the drive, or there are none
    │   └── TraceError                 the content of a trace is invalid
    ├── FileError (OSError)            a file cannot be read or written
    ├── MemoryLimitError (MemoryError) the simulation needs more memory than is available
    ├── FtlError                       the FTL failed during the run: a bug in the FTL
    │   └── PolicyError                a policy written in Python gave an invalid answer
    └── ExperimentError                an invalid experiment file, or a sweep that cannot continue

Exceptions raised by your own policy (:class:`ftlab.Policy`) propagate unchanged, and so does
``KeyboardInterrupt``.
"""

from __future__ import annotations

__all__ = [
    "DriveError",
    "ExperimentError",
    "FileError",
    "FtlError",
    "FtlabError",
    "MemoryLimitError",
    "ParameterError",
    "PolicyError",
    "TraceError",
    "WorkloadError",
]


class FtlabError(Exception):
    """The root of all errors of this package."""


class ParameterError(FtlabError, ValueError):
    """An unknown name, or an invalid value.

    Examples
    --------
    >>> import ftlab
    >>> ftlab.run("uniform", ["2r-fifi"], drive="64MiB")
    Traceback (most recent call last):
        ...
    ftlab.errors.ParameterError: unknown FTL "2r-fifi" (did you mean "2r-fifo"?); known: ...
    """


class DriveError(ParameterError):
    """A drive on which the FTL cannot work, such as one with too little over-provisioning."""


class WorkloadError(FtlabError):
    """The writes do not fit the drive, or there is nothing to count."""


class TraceError(WorkloadError):
    """The content of a trace is invalid."""


class FileError(FtlabError, OSError):
    """A file cannot be read or written."""


class MemoryLimitError(FtlabError, MemoryError):
    """The simulation needs more memory than is available."""


class FtlError(FtlabError):
    """The FTL failed in the middle of a run: a bug in that FTL."""


class PolicyError(FtlError):
    """A policy written in Python gave an invalid answer."""


class ExperimentError(FtlabError):
    """An invalid experiment file, or a sweep that cannot continue."""
