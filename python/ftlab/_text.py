"""Settings as texts, which the compiled part parses."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["Setting", "texts"]

Setting = str | int | float | bool | os.PathLike[str]


def texts(values: Mapping[str, Setting | None]) -> dict[str, str]:
    """The values that are not ``None``, as texts."""
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: Setting) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return str(value)
