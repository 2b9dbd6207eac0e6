"""Runs: workloads of all kinds, results, errors, progress, interruption."""

import json
import os
import pickle
import signal
import threading
import time
from html import escape
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import ftlab
from ftlab._parts import RunParts

SCHEMA = Path(__file__).parents[2] / "crates/ftlab-sim/schema/run-result.schema.json"
PAGES = np.random.default_rng(7).integers(0, 5000, 60_000)


def counts(result):
    return [(run["host_writes"], run["relocations"], run["erases"]) for run in result.runs]


@pytest.fixture(scope="module")
def expected():
    drive = ftlab.Drive(logical_pages=8192, pages_per_block=32)
    return counts(ftlab.run(PAGES, ["1r-greedy", "2r++"], drive=drive))


def test_job_files_of_fio_are_workloads(tmp_path):
    path = tmp_path / "jobs.fio"
    path.write_text("[job]\nrw=randwrite\nbs=4k\nsize=4m\nloops=3\n")
    command = "fio --name=job --rw=randwrite --bs=4k --size=4m --loops=3"
    for workload in (str(path), path, command):
        result = ftlab.run(workload, ["1r-greedy"], drive=ftlab.Drive(pages_per_block=16))
        assert result.runs[0]["host_writes"] == 3 * 1024
    lbas = pa.Table.from_batches(ftlab.generate(path))["lba"].to_pylist()
    assert sorted(lbas[:1024]) == [8 * page for page in range(1024)]
    assert ftlab.inspect(path)["page_writes"] == 3 * 1024


@pytest.mark.parametrize(
    ("workload", "named"),
    [("cachelib:region=64KiB,soc=0.3", {1, 2}), ("lmcache:chunk=64KiB", {1, 2, 3})],
)
def test_caches_are_workloads_whose_writes_name_streams(workload, named):
    drive = ftlab.Drive(logical_pages=16_384, op=0.25, pages_per_block=64, reserve=8)
    ftls = ["nvme-fdp:handles=4", "1r-greedy"]
    result = ftlab.run(workload, ftls, drive=drive, fill="none", writes=60_000)
    assert result["workload"]["has_streams"]
    fdp, greedy = result.runs
    handles = fdp["fdp"]["handles"]
    assert {number for number, handle in enumerate(handles) if handle["hbmw"] > 0} - {0} == named
    assert fdp["fdp"]["hbmw"] == 4096 * 60_000
    assert greedy["fdp"] is None
    assert fdp["host_writes"] == greedy["host_writes"] == 60_000
    batches = list(ftlab.generate(workload, drive=drive, requests=2000))
    again = list(ftlab.generate(workload, drive=drive, requests=2000))
    assert batches == again
    assert sum(batch.num_rows for batch in batches) == 2000


@pytest.mark.parametrize("dtype", ["u2", "i4", "u4", "i8", "u8"])
def test_arrays_of_any_whole_numbers_give_the_same(dtype, small, expected):
    result = ftlab.run(PAGES.astype(dtype), ["1r-greedy", "2r++"], drive=small)
    assert counts(result) == expected


def tables():
    names = np.array(["write"] * len(PAGES))
    sectors = {"lba": PAGES * 8, "sectors": np.full(len(PAGES), 8)}
    structured = np.zeros(len(PAGES), [("lba", "u8"), ("sectors", "u4")])
    structured["lba"], structured["sectors"] = PAGES * 8, 8
    yield "arrow", pa.table({"lpn": PAGES})
    yield "chunks", pa.concat_tables([pa.table({"lpn": part}) for part in np.array_split(PAGES, 7)])
    yield "batch", pa.record_batch({"lpn": PAGES})
    yield "sectors", sectors
    yield "bytes", {"offset": PAGES * 4096, "size": np.full(len(PAGES), 4096)}
    yield "structured", structured
    yield "op names", pa.table({"lpn": PAGES, "op": names})
    yield "op codes", pa.table({"lpn": PAGES, "op": np.zeros(len(PAGES), "u1")})
    yield "polars", polars.DataFrame({"lpn": PAGES, "op": names})
    yield "pandas", pandas.DataFrame(sectors)
    yield "pandas series", pandas.Series(PAGES)
    yield "polars series", polars.Series(PAGES)
    yield "arrow array", pa.array(PAGES)
    yield "chunked array", pa.chunked_array(np.array_split(PAGES, 3))
    yield "iterator", iter(np.array_split(PAGES, 5))
    yield "reader", pa.table({"lpn": PAGES}).to_reader()


@pytest.mark.parametrize("table", [pytest.param(table, id=name) for name, table in tables()])
def test_tables_of_any_kind_give_the_same(table, small, expected):
    assert counts(ftlab.run(table, ["1r-greedy", "2r++"], drive=small)) == expected


def test_a_table_is_read_where_it_is(small):
    pages = np.arange(4_000_000, dtype="u8") % 8192
    before = pa.total_allocated_bytes()
    ftlab.run(pages, "1r-greedy", drive=small, writes=1000)
    assert pa.total_allocated_bytes() - before < 1_000_000


def test_requests_go_out_and_in_again(small):
    generated = ftlab.generate("zipf:theta=0.9", drive=small, requests=50_000)
    one = ftlab.run(pa.Table.from_batches(generated), "2r-fifo", drive=small)
    two = ftlab.run("zipf:theta=0.9", "2r-fifo", drive=small, writes=50_000)
    assert counts(one) == counts(two)
    assert one["trace_hash"] == two["trace_hash"]


def test_requests_come_in_tables_of_the_size_asked_for(small):
    tables = list(ftlab.generate("uniform", drive=small, requests=1000, rows=300))
    assert [table.num_rows for table in tables] == [300, 300, 300, 100]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [1]}, "give lpn"),
        ({"lba": [1]}, "lba without sectors"),
        ({"lpn": [1], "lba": [1], "sectors": [8]}, "both lpn and lba"),
        ({"offset": [4096]}, "offset without size"),
        (pandas.Series([0.5]), "type float64 is not a workload"),
        (polars.Series(["a"]), "is not a workload"),
        (object(), "object is not a workload"),
        ({"lpn": [1.5]}, "lpn is Float64, not whole numbers"),
        ({"lpn": [1], "volume": [0]}, "keep one volume"),
    ],
)
def test_a_table_with_wrong_columns_says_which_are_right(table, message, small):
    with pytest.raises(ftlab.errors.ParameterError, match=message):
        ftlab.run(table, "1r-greedy", drive=small)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"lpn": [1, -1]}, "row 2: lpn is negative"),
        ({"lpn": [1, None]}, "row 2: lpn is negative or missing"),
        ({"lpn": [1], "op": ["wrote"]}, "row 1: op is none of write"),
        ({"lpn": [1, 2, 9000]}, "beyond the drive"),
        ({"offset": [0, 100], "size": [512, 512]}, "row 2: offset is 100 bytes, not a multiple of 512"),
    ],
)
def test_a_wrong_row_is_named(table, message, small):
    with pytest.raises(ftlab.errors.WorkloadError, match=message):
        ftlab.run(table, "1r-greedy", drive=small)


def test_what_an_iterator_raises_comes_out(small):
    def broken():
        yield PAGES[:10]
        raise LookupError("no more pages")

    with pytest.raises(LookupError, match="no more pages"):
        ftlab.run(broken(), "1r-greedy", drive=small)


def test_an_iterator_needs_the_size_of_the_drive():
    with pytest.raises(ftlab.errors.ParameterError, match="logical"):
        ftlab.run(iter([PAGES]), "1r-greedy")


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("ParameterError", {"ftls": "2r-fifi"}, "did you mean"),
        ("ParameterError", {"fill": "full"}, "fill=full is not one of"),
        ("ParameterError", {"drive": ftlab.Drive("64MiB", op=28)}, "op=28 is not a share.*did you mean 28%"),
        ("ParameterError", {"workload": "unifrom"}, "uniform"),
        ("DriveError", {"drive": ftlab.Drive("64MiB", op="0.1%")}, "raise op or blocks"),
        ("FileError", {"workload": "./absent.txt"}, "absent.txt"),
        ("ParameterError", {"ftls": []}, "no FTL is named"),
    ],
)
def test_errors_have_names_and_speak_of_arguments(kind, arguments, message, small):
    given = {"workload": "uniform", "ftls": "1r-greedy", "drive": small} | arguments
    with pytest.raises(getattr(ftlab.errors, kind), match=message) as raised:
        ftlab.run(given.pop("workload"), given.pop("ftls"), **given)
    assert isinstance(raised.value, ftlab.FtlabError)
    assert " --" not in str(raised.value)


def test_a_result_is_a_document_and_tables(observed, tmp_path):
    assert observed["runs"][0]["ftl"] == "1r-greedy"
    assert json.loads(observed.to_json())["trace_hash"] == observed["trace_hash"]
    assert observed.to_arrow()["waf"].to_pylist() == list(observed.waf.values())
    series = observed.to_pandas("series")
    assert len(series) == sum(len(run["running_waf"]) for run in observed.runs)
    observed.save(tmp_path / "results")
    assert dict(ftlab.Result.load(tmp_path / "results")) == dict(observed)
    observed.report(tmp_path / "page.html")
    assert "2r++" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert dict(pickle.loads(pickle.dumps(observed))) == dict(observed)


def test_the_run_of_an_ftl_has_typed_parts(observed):
    run = observed["2r++"]
    assert run.ftl == "2r++"
    assert run.waf == run["waf"] == observed.waf["2r++"]
    assert dict(run) == observed["runs"][1]
    with pytest.raises(AttributeError, match="no part 'wav'; the parts are ftl"):
        run.wav  # noqa: B018
    with pytest.raises(KeyError, match=r"neither a part nor an FTL '2r\+'.*1r-greedy, 2r\+\+"):
        observed["2r+"]
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    parts = schema["$defs"]["RunResult"]["properties"]
    assert set(RunParts.__annotations__) == set(parts)


def test_inspections_are_tables():
    found = ftlab.inspect("zipf:theta=0.9", drive="64MiB", writes=50_000)
    for name, column in {"skew": "writes", "sizes": "requests", "heat_map": "page_writes"}.items():
        assert column in found.to_arrow(name).column_names
    assert sum(found.to_arrow("heat_map")["page_writes"].to_pylist()) == 50_000
    with pytest.raises(KeyError, match="there is no table 'heat'"):
        found.to_arrow("heat")


def test_notebooks_show_a_table(observed):
    page = observed._repr_html_()
    assert page.count("<tr>") == 3
    assert "write amplification" in page
    assert ftlab.inspect("uniform", drive="64MiB", writes=1000)._repr_html_().startswith("<table>")


def test_bytes_are_those_that_the_host_sent(small):
    sectors = {"lba": PAGES * 8 + 3, "sectors": np.full(len(PAGES), 2)}
    part = ftlab.run(sectors, "1r-greedy", drive=small)
    whole = ftlab.run(PAGES, "1r-greedy", drive=small)
    assert part.waf == whole.waf
    run = part.runs[0]
    assert run.host_bytes == run.host_writes * 1024
    assert part.media_bytes_per_host_byte["1r-greedy"] == pytest.approx(4 * run.waf)
    assert whole.media_bytes_per_host_byte == whole.waf
    series = part.to_arrow("series")["host_bytes"].to_pylist()
    assert series == [1024 * part["config"]["interval_writes"]] * len(series)
    assert part["workload"]["unaligned_writes"] == len(PAGES)
    for result in (part, whole):
        assert ("media bytes per host byte" in result._repr_html_()) == (result is part)


def test_a_function_is_told_of_progress(small):
    told = []
    ftlab.run("uniform", "1r-greedy", drive=small, drive_writes=400, progress=told.append)
    assert told
    assert {status.phase for status in told} == {"count"}
    assert told == sorted(told, key=lambda status: status.writes)


def test_what_progress_raises_stops_the_run(small):
    def stop(status):
        raise StopAsyncIteration("enough")

    with pytest.raises(StopAsyncIteration, match="enough"):
        ftlab.run("uniform", "1r-greedy", drive=small, drive_writes=1e5, interval=1 << 20, progress=stop)


def test_ctrl_c_stops_a_run(small):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        ftlab.run("uniform", "1r-greedy", drive=small, drive_writes=1e5, interval=1 << 20)
    timer.cancel()


def test_other_threads_go_on_meanwhile(small):
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    ftlab.run("uniform", "1r-greedy", drive=small, drive_writes=300)
    done.set()
    thread.join()
    assert len(ticks) > 10


def test_everything_that_has_a_name_is_listed():
    assert "2r++" in ftlab.ftls()
    assert "zipf" in ftlab.generators()
    assert "parquet" in ftlab.formats()
    assert "slc" in ftlab.timings()
    assert "victim/greedy" in ftlab.parts()


def test_inspect_says_what_is_in_a_table(small):
    found = ftlab.inspect(PAGES, drive=small)
    assert found["page_writes"] == len(PAGES)
    assert found["distinct_pages"] == len(np.unique(PAGES))


def test_a_trace_in_a_file_is_a_workload(tmp_path, small):
    rows = "".join(f"W,{page * 4096},4096\n" for page in PAGES[:1000])
    path = tmp_path / "trace.csv"
    path.write_text(rows, encoding="utf-8")
    trace = ftlab.Trace(path, map="op=1,off:bytes=2,len:bytes=3")
    assert ftlab.run(trace, "1r-greedy", drive=small).runs[0]["host_writes"] == 1000
    assert isinstance(path, Path)


def test_an_argument_of_the_drive_is_named_as_one() -> None:
    for given in ({"op": "10%"}, {"logical": "8MiB", "op": 0.1}):
        with pytest.raises(TypeError, match=r"write drive=ftlab.Drive\(.*op="):
            ftlab.run("uniform", "2r++", **given)  # type: ignore[arg-type]


def test_what_is_unlike_a_drive_is_a_warning():
    drive = ftlab.Drive(logical_pages=8192, pages_per_block=64)
    with pytest.warns(RuntimeWarning, match="fewer than 256") as said:
        result = ftlab.run("uniform", "fifo", drive=drive, timing="femu:luns=1", progress=False)
    assert result.warnings == [str(warning.message) for warning in said]
    assert "erases take" in result.warnings[1]
    assert len(result.runs[0]["doubts"]) == 2
    assert escape(result.warnings[0]) in result._repr_html_()


def test_every_ftl_runs_with_every_map():
    drive = ftlab.Drive("16MiB", op="20%", pages_per_block=64, mapping="full,dftl:cache=8KiB")
    result = ftlab.run("hotcold", ["1r-greedy", "2r++"], drive=drive)
    maps = ("full", "dftl:cache=8KiB")
    assert list(result.waf) == [f"{ftl} with {own}" for ftl in ("1r-greedy", "2r++") for own in maps]
    assert result.runs[1].mapping == "dftl:cache=8KiB,entry-bytes=8,protected=0.5"
    assert result.runs[0].map is None
    assert result.runs[1].map["writes"] > 0
