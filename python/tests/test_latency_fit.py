"""Latencies of real drives in Python."""

from pathlib import Path

import pytest

import ftlab

FIO = Path(__file__).parents[2] / "crates/ftlab-experiments/tests/data/fio-3.33-json-plus.json"
TIMES = "slc:luns=4,unit=request,priority=read-first,suspend=both,write-buffer=1MiB"


def test_latencies_are_compared_with_times():
    fit = ftlab.fit_latency([FIO], timing=TIMES, over_provisioning="15%")
    table = fit.to_pandas()
    assert list(table["load"]) == ["qd4", "qd4", "readers", "readers"]
    assert list(table["what"]) == ["measured", "simulated"] * 2
    measured, simulated = table.iloc[2], table.iloc[3]
    assert measured["read_p50_us"] == fit["loads"][1]["measured"]["reads"]["p50_us"]
    off = simulated["read_mean_us"] / measured["read_mean_us"] - 1
    assert simulated["off_read_mean"] == pytest.approx(off)
    assert (fit["op_ratio"], fit.timing, fit.is_explained) == (0.15, TIMES, False)
    assert repr(fit) == f"<ftlab.LatencyFit: {fit['told']}, over-provisioning 15.0%>"


def test_what_is_missing_is_said():
    with pytest.raises(ftlab.FtlabError, match="needs --sequential SIZE"):
        ftlab.fit_latency(FIO)
    with pytest.raises(ftlab.FtlabError, match="chooses a drive of a table"):
        ftlab.fit_latency(FIO, name="A", sequential="1GB")
