"""Names of a package that are imported on first use: the command needs none of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazily", "needs"]


def lazily(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to tuple of str
        Modules of it, and the names that each has; a name that is its module's own stands for the module.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name]}")
        value = module if home[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return find


def needs(what: str, package: str, extra: str, error: ImportError) -> ImportError:
    """The error for a missing package, naming the extra that installs it."""
    return ImportError(
        f"{what} needs the package {package} ({error}); pip install 'ftlab[{extra}]', in a clone "
        f"pip install '.[{extra}]'"
    )
