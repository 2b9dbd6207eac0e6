"""The plots of :mod:`ftlab.plot` as interactive Altair charts, for notebooks.

They need the package ``altair``, which ``pip install 'ftlab[altair]'`` installs. Lines and bars show
their values under the pointer; line charts can be zoomed.

Examples
--------
>>> import ftlab
>>> import ftlab.plot.altair
>>> result = ftlab.run("zipf:theta=0.9", ["1r-greedy", "2r++"], drive="1GiB", fill="random")
>>> chart = ftlab.plot.altair.waf(result)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ftlab import _core
from ftlab._lazy import needs
from ftlab._tables import table
from ftlab.plot._colours import COLD, KINDS, PALETTE, region_colours
from ftlab.plot._data import at_moment, coarse_heat_map, curve, drawn, observed_ftls

try:
    import altair as alt
except ImportError as error:
    raise needs("ftlab.plot.altair", "Altair", "altair", error) from None

if TYPE_CHECKING:
    from ftlab._requests import Inspection
    from ftlab._result import Result

__all__ = [
    "cold_region",
    "flash",
    "footprint",
    "heat_map",
    "intervals",
    "moves",
    "response",
    "skew",
    "spread",
    "utilisation",
    "waf",
    "wear",
]

_WIDTH, _HEIGHT = 460, 260
_PANEL = 220


def _colours(result: Result) -> alt.Color:
    """The colour of each FTL, the same in all charts."""
    ftls = [run["ftl"] for run in result["runs"]]
    colours = [PALETTE[colour] for colour, _ in _core.styles(ftls)]
    scale = alt.Scale(domain=ftls, range=colours)
    return alt.Color("ftl:N", title="FTL", scale=scale)


def _over_time(result: Result, rows: pa.Table, column: str, title: str, **axis: Any) -> alt.Chart:
    """A line for each FTL."""
    chart = (
        alt.Chart(rows)
        .mark_line()
        .encode(
            x=alt.X("drive_writes:Q", title="drive writes"),
            y=alt.Y(f"{column}:Q", title=title, **axis),
            color=_colours(result),
            tooltip=[
                "ftl",
                alt.Tooltip("drive_writes", format=".3f"),
                alt.Tooltip(column, format=".4f"),
            ],
        )
    )
    made: alt.Chart = chart.properties(width=_WIDTH, height=_HEIGHT).interactive()
    return made


def waf(result: Result) -> alt.Chart:
    """Draw write amplification over time.

    Parameters
    ----------
    result : Result
        The result of a run.

    Returns
    -------
    altair.Chart
        The chart.
    """
    rows = drawn(result, "series", "waf", "give run a smaller interval")
    scale = alt.Scale(zero=False)
    return _over_time(result, rows, "waf", "write amplification", scale=scale)


def cold_region(result: Result) -> alt.Chart:
    """Draw the cold region over time.

    Parameters
    ----------
    result : Result
        The result of a run, with an FTL that has a cold region, such as ``"2r++"``.

    Returns
    -------
    altair.Chart
        The chart.
    """
    remedy = "run one with a cold region, such as 2r++"
    rows = drawn(result, "series", "cold_region_share", remedy)
    axis = alt.Axis(format="%")
    title = "cold region, share of blocks"
    return _over_time(result, rows, "cold_region_share", title, axis=axis)


def response(result: Result) -> alt.Chart:
    """Draw response times: the share of host writes that take longer.

    Parameters
    ----------
    result : Result
        The result of a run with `timing`.

    Returns
    -------
    altair.Chart
        The chart.
    """
    rows = drawn(result, "responses", "response_ns", 'run with timing, such as "slc"')
    rows = rows.append_column("milliseconds", pc.divide(rows["response_ns"], 1e6))
    rows = rows.filter(pc.greater(rows["longer_share"], 0))
    chart = (
        alt.Chart(rows)
        .mark_line()
        .encode(
            x=alt.X("milliseconds:Q", title="response time (ms)", scale=alt.Scale(type="log")),
            y=alt.Y(
                "longer_share:Q",
                title="share of writes that take longer",
                scale=alt.Scale(type="log"),
            ),
            color=_colours(result),
            tooltip=["ftl", alt.Tooltip("milliseconds", format=".3f"), "longer_share"],
        )
    )
    made: alt.Chart = chart.properties(width=_WIDTH, height=_HEIGHT).interactive()
    return made


def spread(result: Result, moments: int = 5) -> alt.Chart:
    """Draw whether cold pages spread, a panel per FTL.

    Parameters
    ----------
    result : Result
        The result of a run with ``observe=True``.
    moments : int, default 5
        Points in time from the beginning to the end.

    Returns
    -------
    altair.Chart
        The chart.
    """
    ftls = observed_ftls(result)
    rows = table(result, "spread")
    writes = sorted(set(rows["host_writes"].to_pylist()))
    count = max(min(moments, len(writes)), 1)
    places = [round(index * (len(writes) - 1) / max(count - 1, 1)) for index in range(count)]
    chosen = pa.array([writes[place] for place in places], rows["host_writes"].type)
    rows = rows.filter(pc.is_in(rows["host_writes"], chosen))
    place = rows.column_names.index("drive_writes")
    rows = rows.set_column(place, "drive_writes", pc.round(rows["drive_writes"], 2))
    lines = (
        alt.Chart(rows)
        .mark_line()
        .encode(
            x=alt.X("percentile:Q", title="blocks, in ascending order (%)"),
            y=alt.Y("cold_share:Q", title="cold pages of the block", axis=alt.Axis(format="%")),
            color=alt.Color("drive_writes:O", title="drive writes", scale=alt.Scale(scheme="blues")),
            column=alt.Column("ftl:N", title=None, sort=ftls),
            tooltip=["ftl", "drive_writes", "percentile", alt.Tooltip("cold_share", format=".1%")],
        )
    )
    made: alt.Chart = lines.properties(width=_PANEL, height=_PANEL)
    return made


def utilisation(result: Result, at: float | None = None) -> alt.Chart:
    """Draw how full blocks are, by region, a panel per FTL.

    Parameters
    ----------
    result : Result
        The result of a run with ``observe=True``.
    at : float, optional
        The time in drive writes; by default the end.

    Returns
    -------
    altair.Chart
        The chart.
    """
    rows = at_moment(result, "utilisation", at)
    rows = rows.filter(pc.greater(rows["blocks"], 0))
    colours: dict[str, str] = {}
    for run in result["runs"]:
        colours |= region_colours(run["streams"])
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    share, whole = alt.Axis(format="%"), alt.Scale(domain=[0, 1])
    bars = (
        alt.Chart(rows)
        .mark_bar(size=8)
        .encode(
            x=alt.X("valid_share:Q", title="valid pages of the block", axis=share, scale=whole),
            y=alt.Y("blocks:Q", title="blocks", stack="zero"),
            color=alt.Color("stream:N", title="region", scale=scale),
            column=alt.Column("ftl:N", title=None, sort=observed_ftls(result)),
            tooltip=["ftl", "stream", alt.Tooltip("valid_share", format=".0%"), "blocks"],
        )
    )
    made: alt.Chart = bars.properties(width=_PANEL, height=_PANEL)
    return made


def moves(result: Result) -> alt.Chart:
    """Draw what is moved: pages moved per host page, by their lifetime.

    Parameters
    ----------
    result : Result
        The result of a run with ``observe=True``.

    Returns
    -------
    altair.Chart
        The chart.
    """
    rows = drawn(result, "moves", "pages", "run with observe=True")
    order = pa.array([list(KINDS).index(kind) for kind in rows["kind"].to_pylist()])
    rows = rows.append_column("order", order)
    scale = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    bars = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("per_host_write:Q", title="pages moved per host page", stack="zero"),
            y=alt.Y("ftl:N", title=None, sort=[run["ftl"] for run in result["runs"]]),
            color=alt.Color("kind:N", title="lasting", scale=scale),
            order="order:Q",
            tooltip=["ftl", "kind", "pages", alt.Tooltip("per_host_write", format=".4f")],
        )
    )
    made: alt.Chart = bars.properties(width=_WIDTH)
    return made


def wear(result: Result) -> alt.LayerChart:
    """Draw erases per block, from the least to the most worn, with the mean marked.

    Parameters
    ----------
    result : Result
        The result of a run.

    Returns
    -------
    altair.LayerChart
        The chart.
    """
    rows = table(result, "runs")
    base = alt.Chart(rows).encode(
        y=alt.Y("ftl:N", title=None, sort=[run["ftl"] for run in result["runs"]]),
        tooltip=["ftl", "erases_min", "erases_mean", "erases_max", "erases_gini"],
    )
    span = base.mark_bar(height=8, color=PALETTE[5]).encode(
        x=alt.X("erases_min:Q", title="erases per block: least, mean, most"), x2="erases_max:Q"
    )
    mean = base.mark_point(filled=True, size=70, color=PALETTE[2]).encode(x="erases_mean:Q")
    made: alt.LayerChart = (span + mean).properties(width=_WIDTH)
    return made


def flash(result: Result, at: float | None = None) -> alt.Chart:
    """Draw the flash itself: a cell per erase block, darker with more cold pages.

    Parameters
    ----------
    result : Result
        The result of a run with ``observe=True``.
    at : float, optional
        The time in drive writes; by default the end.

    Returns
    -------
    altair.Chart
        The chart, a panel per FTL; the pointer shows what is in a cell.
    """
    rows = at_moment(result, "cells", at)
    columns = max(1, round((pc.max(rows["cell"]).as_py() + 1) ** 0.5))
    cells = rows["cell"].to_numpy()
    rows = rows.append_column("row", pa.array(cells // columns))
    rows = rows.append_column("column", pa.array(cells % columns))
    shares = [alt.Tooltip(name, format=".0%") for name in ("valid_share", "cold_share")]
    squares = (
        alt.Chart(rows)
        .mark_rect(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("column:O", axis=None),
            y=alt.Y("row:O", axis=None),
            color=alt.Color(
                "cold_share:Q",
                title="cold pages",
                scale=alt.Scale(range=["#f3efe6", COLD], domain=[0, 1]),
            ),
            column=alt.Column("ftl:N", title=None, sort=observed_ftls(result)),
            tooltip=["cell", "stream", *shares],
        )
    )
    made: alt.Chart = squares.properties(width=_PANEL, height=_PANEL)
    return made


def _workload_line(rows: pa.Table, x: alt.X, y: alt.Y, **encoding: Any) -> alt.Chart:
    chart = alt.Chart(rows).mark_line().encode(x=x, y=y, **encoding)
    made: alt.Chart = chart.properties(width=_WIDTH, height=_HEIGHT).interactive()
    return made


def skew(found: Inspection) -> alt.Chart:
    """Draw the skew of a workload: the share of page writes that goes to the most-written pages.

    Parameters
    ----------
    found : Inspection
        What :func:`ftlab.inspect` found.

    Returns
    -------
    altair.Chart
        The chart.
    """
    curve(found, "skew", "pages", "writes")
    percent = alt.Axis(format="%")
    return _workload_line(
        found.to_arrow("skew"),
        alt.X("pages:Q", title="pages, the most-written first", axis=percent),
        alt.Y("writes:Q", title="page writes", axis=percent),
    )


def intervals(found: Inspection) -> alt.Chart:
    """Draw write intervals: the share of page writes whose page was written within so many before.

    Parameters
    ----------
    found : Inspection
        What :func:`ftlab.inspect` found.

    Returns
    -------
    altair.Chart
        The chart.
    """
    curve(found, "intervals", "page_writes", "share")
    scale = alt.Scale(type="log")
    return _workload_line(
        found.to_arrow("intervals"),
        alt.X("page_writes:Q", title="page writes since the last of that page", scale=scale),
        alt.Y("share:Q", title="write intervals up to this", axis=alt.Axis(format="%")),
    )


def footprint(found: Inspection) -> alt.Chart:
    """Draw the footprint: pages written so far, and those that hold data, by page writes.

    Parameters
    ----------
    found : Inspection
        What :func:`ftlab.inspect` found.

    Returns
    -------
    altair.Chart
        The chart.
    """
    columns = {"written so far": "written_pages", "hold data": "holding_pages"}
    rows = []
    for label, column in columns.items():
        writes, pages = curve(found, "footprint", "page_writes", column)
        rows += [
            {"page_writes": float(x), "pages": float(y), "which": label}
            for x, y in zip(writes, pages, strict=True)
        ]
    return _workload_line(
        pa.Table.from_pylist(rows),
        alt.X("page_writes:Q", title="page writes"),
        alt.Y("pages:Q", title="pages"),
        strokeDash=alt.StrokeDash("which:N", title=None),
    )


def heat_map(found: Inspection) -> alt.Chart:
    """Draw where writes go over time: page writes by address and moment.

    Parameters
    ----------
    found : Inspection
        What :func:`ftlab.inspect` found.

    Returns
    -------
    altair.Chart
        The chart; cells without writes are white.
    """
    curve(found, "heat_map", "from_page", "page_writes")
    colour = alt.Scale(scheme="cividis", type="log")
    chart = (
        alt.Chart(coarse_heat_map(found))
        .mark_rect()
        .encode(
            x=alt.X("from_write:Q", title="page writes"),
            x2="to_write:Q",
            y=alt.Y("from_page:Q", title="page"),
            y2="to_page:Q",
            color=alt.Color("page_writes:Q", title="page writes", scale=colour),
            tooltip=["from_write", "from_page", "page_writes"],
        )
    )
    made: alt.Chart = chart.properties(width=_WIDTH, height=_HEIGHT)
    return made
