"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A provisional file, which takes the place of `path` when it is complete.

    Parameters
    ----------
    path : str or path
        The file. A link stays, and the file that it leads to is replaced.

    Yields
    ------
    pathlib.Path
        The provisional file, with the same ending.
    """
    target = Path(path).resolve()
    with tempfile.TemporaryDirectory(prefix=".ftlab-", dir=target.parent) as place:
        provisional = Path(place) / target.name
        yield provisional
        provisional.replace(target)
