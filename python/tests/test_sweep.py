"""Experiment files: as the command line does it, and on a cluster whose workers die."""

import json
import os
import signal
import sys
import threading
import time

import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster

import ftlab

EXPERIMENT = """
title = "a test"
workloads = ["zipf:theta={theta}"]
ftls = ["1r-greedy", "2r-fifo"]
seeds = [1, 2]
[drive]
logical-pages = 8192
pages-per-block = 64
op = "{op}"
[run]
drive-writes = 2
[grid]
theta = [0.5, 0.9]
op = ["20%", "40%"]
"""
RUNS = 16

# With 4%, 1r-greedy has the blocks that it needs, and 2r-fifo lacks one.
WITH_A_FAILURE = EXPERIMENT.replace('["20%", "40%"]', '["4%", "40%"]').replace("[0.5, 0.9]", "[0.9]")
WITH_A_FAILURE = WITH_A_FAILURE.replace("seeds = [1, 2]", "")


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "exp.toml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    return path


@pytest.fixture
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        yield client


def stored(directory):
    """Every row of a store, by run: what does not vary from run to run. No run may be there twice."""
    rows = [row for path in directory.glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    found = {}
    for row in rows:
        assert row["run"] not in found, "a run is stored twice"
        result = json.loads(row["result"])
        for run in result["runs"]:
            for name in list(run):
                if name == "seconds" or name.startswith("nanoseconds"):
                    del run[name]
        found[row["run"]] = (row["labels"], result)
    return found


def test_a_sweep_goes_on_where_it_stopped(experiment):
    done = ftlab.sweep("exp.toml")
    assert (done.ran, done.reused, done.failures) == (RUNS, 0, [])
    assert str(done.directory) == "exp.results"
    again = ftlab.sweep(experiment, "exp.results", threads=1)
    assert (again.ran, again.reused) == (0, RUNS)
    assert repr(again) == ("<Sweep: 0 runs carried out, 16 reused, 0 failed; in exp.results>")


def test_a_point_is_what_a_run_gives(experiment):
    table = ftlab.sweep("exp.toml").to_pandas()
    assert list(table.columns[:6]) == ["workload", "theta", "op", "ftl", "seed", "run"]
    row = table[(table.theta == "0.9") & (table.op == "40%") & (table.ftl == "2r-fifo") & (table.seed == "2")]
    drive = ftlab.Drive(logical_pages=8192, pages_per_block=64, op="40%")
    result = ftlab.run("zipf:theta=0.9", "2r-fifo", drive=drive, drive_writes=2, seed=2)
    assert row.waf.tolist() == [result.waf["2r-fifo"]]


def test_a_cluster_gives_what_threads_give_and_each_goes_on_with_the_others_store(
    experiment, client, tmp_path
):
    ftlab.sweep(experiment, tmp_path / "threads")
    seen = []
    done = ftlab.sweep(experiment, tmp_path / "cluster", client=client, progress=seen.append)
    assert (done.ran, done.reused, done.failures) == (RUNS, 0, [])
    assert stored(tmp_path / "cluster") == stored(tmp_path / "threads")
    assert [status.done for status in seen] == list(range(2, RUNS + 1, 2))
    assert seen[-1].share == 1

    assert ftlab.sweep(experiment, tmp_path / "cluster").reused == RUNS
    assert ftlab.sweep(experiment, tmp_path / "threads", client=client).reused == RUNS


def test_a_part_that_is_there_is_not_run_again(experiment, client, tmp_path):
    text = experiment.read_text(encoding="utf-8")
    experiment.write_text(
        text.replace('ftls = ["1r-greedy", "2r-fifo"]', 'ftls = ["2r-fifo"]'), encoding="utf-8"
    )
    ftlab.sweep(experiment, tmp_path / "out")
    experiment.write_text(text, encoding="utf-8")
    done = ftlab.sweep(experiment, tmp_path / "out", client=client)
    assert (done.ran, done.reused) == (RUNS // 2, RUNS // 2)
    assert len(stored(tmp_path / "out")) == RUNS


def test_a_worker_that_is_killed_loses_and_doubles_nothing(experiment, cluster, client, tmp_path):
    text = EXPERIMENT.replace("drive-writes = 2", "drive-writes = 300")
    experiment.write_text(text, encoding="utf-8")
    interrupted = []

    def kill_a_worker(status):
        if not interrupted:
            address, pid = next(iter(client.run(os.getpid).items()))
            interrupted.extend(client.processing()[address])
            os.kill(pid, signal.SIGKILL)

    done = ftlab.sweep(experiment, tmp_path / "out", client=client, progress=kill_a_worker)
    assert interrupted
    assert (done.ran, done.reused, done.failures) == (RUNS, 0, [])
    assert len(stored(tmp_path / "out")) == RUNS
    ftlab.sweep(experiment, tmp_path / "threads")
    assert stored(tmp_path / "out") == stored(tmp_path / "threads")


@pytest.mark.parametrize("where", ["threads", "cluster"])
def test_a_run_that_fails_is_named_and_the_others_finish(where, experiment, request, tmp_path):
    client = request.getfixturevalue("client") if where == "cluster" else None
    experiment.write_text(WITH_A_FAILURE, encoding="utf-8")
    with pytest.warns(RuntimeWarning, match="of the runs failed; the same sweep retries them") as warned:
        done = ftlab.sweep(experiment, tmp_path / "out", client=client)
    (failure,) = done.failures
    assert failure.run == "workload zipf:theta={theta}, theta 0.9, op 4%, ftl 2r-fifo, seed 1"
    assert "134 blocks of 64 pages are too few" in failure.error
    assert "raise op or blocks (op 6% is enough)" in failure.error
    assert failure.error in str(warned[0].message)
    assert done.ran == len(stored(tmp_path / "out")) == 3


def test_a_worker_that_would_run_something_else_runs_nothing(tmp_path):
    text = EXPERIMENT.replace("zipf:theta={theta}", "trace.csv").replace("drive-writes = 2", "")
    text = text.replace(
        '["trace.csv"]', '[{ name = "mine", spec = "trace.csv", map = "op=1,off:pages=2,len:pages=3" }]'
    )
    trace = tmp_path / "trace.csv"
    trace.write_text("W,1,1\n" * 9, encoding="utf-8")
    recipe = (str(tmp_path / "exp.toml"), text, "1", ())
    store = ftlab._core.Store(str(tmp_path / "out"))
    jobs = store.pending(ftlab._core.Plan(*recipe))
    runs = {run for run, _ in jobs[0]}
    finished, failures = ftlab._core.Plan(*recipe).run(runs)
    assert (store.add(finished), failures) == (len(runs), [])
    assert store.add(finished) == 0

    trace.write_text("W,2,1\n" * 9, encoding="utf-8")
    with pytest.raises(
        ftlab.errors.ExperimentError, match="same version of ftlab, and traces with the same content"
    ):
        ftlab._core.Plan(*recipe).run(runs)
    store.close()


def test_what_was_changed_in_the_middle_of_a_trace_is_run_again_here_and_on_a_cluster(
    experiment, client, tmp_path
):
    pages = [(7 * page) % 8192 for page in range(16_384)]
    trace = tmp_path / "trace.csv"

    def write(pages):
        trace.write_text("".join(f"W,{page:04},1\n" for page in pages), encoding="utf-8")

    write(pages)
    text = EXPERIMENT.replace("drive-writes = 2", "").replace("seeds = [1, 2]", "")
    text = text.replace("theta = [0.5, 0.9]", "").replace(
        '["zipf:theta={theta}"]',
        '[{ name = "mine", spec = "trace.csv", map = "op=1,off:pages=2,len:pages=3" }]',
    )
    experiment.write_text(text, encoding="utf-8")
    for out, on in [("threads", None), ("cluster", client)]:
        write(pages)
        assert ftlab.sweep(experiment, tmp_path / out, client=on).ran == 4
        assert ftlab.sweep(experiment, tmp_path / out, client=on).reused == 4
        # As long as before, and the same at both ends; workers have made a plan of the other trace.
        write(pages[:4000] + pages[4000:12_000][::-1] + pages[12_000:])
        changed = ftlab.sweep(experiment, tmp_path / out, client=on)
        assert (changed.ran, changed.reused, changed.failures) == (4, 0, [])
    assert stored(tmp_path / "cluster") == stored(tmp_path / "threads")


def test_ctrl_c_stops_a_sweep_and_what_is_finished_is_kept(experiment, tmp_path):
    text = EXPERIMENT.replace("seeds = [1, 2]", f"seeds = {list(range(2000))}")
    experiment.write_text(text, encoding="utf-8")
    main, is_kept = threading.main_thread().ident, threading.Event()

    def interrupt():
        is_kept.wait()
        time.sleep(0.5)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ftlab.sweep(
            experiment, tmp_path / "out", progress=lambda status: is_kept.set() if status.done else None
        )
    assert time.monotonic() - started < 60
    kept = len(stored(tmp_path / "out"))
    assert 0 < kept < 2000 * 8


def test_an_exception_of_the_progress_stops_a_sweep(experiment, tmp_path):
    def refuse(status):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        ftlab.sweep(experiment, tmp_path / "out", progress=refuse)


def test_one_process_at_a_time_adds_to_a_directory(experiment, tmp_path):
    store = ftlab._core.Store(str(tmp_path / "out"))
    with pytest.raises(ftlab.errors.FileError, match="another process is adding results"):
        ftlab.sweep(experiment, tmp_path / "out")
    store.close()
    assert ftlab.sweep(experiment, tmp_path / "out").ran == RUNS


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("drive-writes", "drive-write", r"exp\.toml:11: unknown field"),
        ("2r-fifo", "2r-fifi", 'did you mean "2r-fifo"'),
        ("{theta}", "{alpha}", "{alpha} stands for nothing"),
    ],
)
def test_what_is_wrong_is_shown_with_its_line(old, new, expected, experiment):
    experiment.write_text(EXPERIMENT.replace(old, new), encoding="utf-8")
    with pytest.raises(ftlab.errors.ExperimentError, match=expected):
        ftlab.sweep(experiment)


def test_a_file_or_scale_that_cannot_be_is_an_error(experiment):
    with pytest.raises(ftlab.errors.FileError, match=r"absent\.toml"):
        ftlab.sweep("absent.toml")
    with pytest.raises(ftlab.errors.ExperimentError, match="8"):
        ftlab.sweep(experiment, scale="8")


def test_the_package_needs_no_dask_without_a_client():
    assert "distributed" in sys.modules  # of this test
    code = "import sys, ftlab; assert 'distributed' not in sys.modules"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0
