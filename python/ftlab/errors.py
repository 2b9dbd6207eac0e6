"""What can go wrong, as a tree of exceptions.

Every message names the value, the limit and the remedy::

    FtlabError
    ├── ParameterError (ValueError)    a name or value that does not exist or cannot work
    │   └── DriveError                 a drive on which the FTL cannot work
    ├── WorkloadError                  the writes do not fit the drive, or there are none
    │   └── TraceError                 the content of a trace cannot be understood
    ├── FileError (OSError)            a file cannot be read or written
    ├── MemoryLimitError (MemoryError) the simulation needs more memory than there is
    ├── FtlError                       the FTL broke off: a bug of the FTL
    │   └── PolicyError                a policy written in Python broke the rules
    └── ExperimentError                an experiment file that is wrong

What a policy of your own raises (:class:`ftlab.Policy`) comes out as it was raised, and so does
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
    """A name or value that does not exist, or cannot work.

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
    """The content of a trace cannot be understood."""


class FileError(FtlabError, OSError):
    """A file cannot be read or written."""


class MemoryLimitError(FtlabError, MemoryError):
    """The simulation needs more memory than there is."""


class FtlError(FtlabError):
    """The FTL broke off in the middle of a run: a bug of that FTL."""


class PolicyError(FtlError):
    """A policy written in Python answered what no policy may answer."""


class ExperimentError(FtlabError):
    """An experiment file that is wrong, or a sweep that cannot go on."""
