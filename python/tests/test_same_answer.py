"""The same question has the same answer from every function and from the command, on the captured traces."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import ftlab

DEMO = Path(__file__).parents[2] / "demo/tpcc-mariadb.parquet"
SHARED = Path(os.environ.get("FTLAB_SHARED", "/nowhere")) / "traces"
# Write requests that are taken of a trace, and sectors that become a page, so that the drive is small.
REQUESTS, SECTORS = 12_000, 32
MAP = "op=1,off:pages=2,len:pages=3"
FTL = "1r-greedy"


def beginning(trace):
    """The pages that a trace writes first, numbered in order of first use."""
    rows = next(pq.ParquetFile(trace).iter_batches(batch_size=4 * REQUESTS, columns=["op", "lba"]))
    lba = rows["lba"].to_numpy()[rows["op"].to_numpy() == 0][:REQUESTS]
    _, first, pages = np.unique(lba // SECTORS, return_index=True, return_inverse=True)
    return first.argsort().argsort()[pages]


@pytest.mark.parametrize("trace", [DEMO, *sorted(SHARED.glob("*.parquet"))], ids=lambda path: path.stem)
def test_the_same_question_has_the_same_answer(trace, tmp_path):
    file = tmp_path / "trace.csv"
    file.write_text("".join(f"W,{page},1\n" for page in beginning(trace)), encoding="utf-8")
    asked = ftlab.Trace(file, map=MAP)
    small = ftlab.Drive(pages_per_block=16)
    drive = ftlab.Drive(op="20%", pages_per_block=16)
    run = ftlab.run(asked, FTL, drive=drive, repeat=True, until="steady", progress=False)[FTL]
    board = ftlab.compare(
        asked, FTL, baseline=FTL, op=["20%"], drive=small, repeat=True, until="steady", progress=False
    )
    advice = ftlab.advise(asked, ftls=FTL, op=["20%"], drive=small, progress=False)
    typed = [sys.executable, "-m", "ftlab", "run", file, "--map", MAP, "--op", "20%"]
    typed += ["--pages-per-block", "16", "--ftl", FTL, "--until", "steady", "--repeat", "--json"]
    told = json.loads(subprocess.run(typed, check=True, capture_output=True).stdout)
    (commanded,) = told["runs"]
    (compared,) = board.to_arrow().to_pylist()
    (point,) = advice["curves"][0]["points"]
    assert (commanded["waf"], commanded.get("steady_waf")) == (run.waf, run.steady_waf)
    assert (compared["waf"], compared["steady_waf"]) == (run.waf, run.steady_waf)
    assert point["waf"] == pytest.approx(run.settling["window_waf"] or run.waf, abs=1e-12)
    assert point["verdict"] == run.settling["verdict"]
