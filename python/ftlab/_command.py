"""The command ``ftlab``, whose program is in the compiled part."""

from __future__ import annotations

import signal
import sys

from ftlab import _core

__all__ = ["main"]


def main() -> int:
    """Runs the command with the arguments of this process.

    Returns
    -------
    int
        The exit status: 2 if the command was wrong, 1 if its execution failed.
    """
    # As a program finds them. Python ignores the latter, and would hear of Ctrl-C only after the run.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    return _core.command(sys.argv[1:], sys.executable)
