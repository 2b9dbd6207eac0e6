"""Data for plots, extracted from results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ftlab._tables import frames, table
from ftlab.errors import ParameterError

if TYPE_CHECKING:
    from ftlab._requests import Inspection, InspectionTable

Numbers = npt.NDArray[np.float64]

__all__ = ["at_moment", "curve", "drawn", "nearest_frame", "observed_ftls"]


def drawn(result: Mapping[str, Any], name: str, column: str, remedy: str) -> pa.Table:
    """The rows of a table that have a value in `column`; if there are none, an error with a remedy."""
    rows = table(result, name)
    if column in rows.column_names:
        rows = rows.filter(pc.is_valid(rows[column]))
        if rows.num_rows:
            return rows
    raise ParameterError(f"there is nothing to draw: no FTL of this result has {column}; {remedy}")


def curve(found: Inspection, name: InspectionTable, x: str, y: str) -> tuple[Numbers, Numbers]:
    """Two columns of a table of an inspection; if it is empty, an error with a remedy."""
    rows = found.to_arrow(name)
    if not rows.num_rows:
        raise ParameterError(
            f"there is nothing to draw: {found['workload']} has no {name}; inspect more writes"
        )
    return rows[x].to_numpy(), rows[y].to_numpy()


_OBSERVE = "run with observe=True"


def observed_ftls(result: Mapping[str, Any]) -> list[str]:
    """The FTLs whose flash was observed."""
    ftls = [run["ftl"] for run in result["runs"] if run["observed"] and run["observed"]["frames"]]
    if not ftls:
        raise ParameterError(f"there is nothing to draw: the flash was not observed; {_OBSERVE}")
    return ftls


def nearest_frame(result: Mapping[str, Any], ftl: str, at: float | None) -> Mapping[str, Any]:
    """The picture of the flash nearest to `at` drive writes; the last one if that is ``None``."""
    own = [(key, frame) for run, frame, key in frames(result) if run["ftl"] == ftl]
    if at is None:
        return own[-1][1]
    return min(own, key=lambda pair: abs(pair[0]["drive_writes"] - at))[1]


def at_moment(result: Mapping[str, Any], name: str, at: float | None) -> pa.Table:
    """The rows of a table of pictures that belong to the picture nearest to `at`, for each FTL."""
    ftls = observed_ftls(result)
    rows = table(result, name)
    wanted = {ftl: nearest_frame(result, ftl, at)["host_writes"] for ftl in ftls}
    kept = [
        wanted.get(ftl) == writes
        for ftl, writes in zip(rows["ftl"].to_pylist(), rows["host_writes"].to_pylist(), strict=True)
    ]
    return rows.filter(pa.array(kept, pa.bool_()))
