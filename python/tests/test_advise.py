"""`ftlab.advise` and `ftlab.compare`: the same answers as the commands give."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import ftlab

DRIVE = ftlab.Drive("32MiB", pages_per_block=32)


def command(*arguments):
    typed = [sys.executable, "-m", "ftlab", *arguments, "--json"]
    return json.loads(subprocess.run(typed, check=True, capture_output=True, timeout=300).stdout)


def test_advice_is_that_of_the_command():
    op = ["7%", "10%", "20%", "40%"]
    ftls = ["1r-greedy", "sepbit"]
    counted = []
    advice = ftlab.advise(
        "hotcold",
        target_waf=1.8,
        ftls=ftls,
        op=op,
        drive=DRIVE,
        endurance=3000,
        daily_writes="1GiB",
        progress=lambda done, of: counted.append((done, of)),
    )
    typed = ["advise", "hotcold", "--logical", "32MiB", "--pages-per-block", "32", "--target-waf", "1.8"]
    typed += ["--op", ",".join(op), "--ftl", ftls[0], "--ftl", ftls[1]]
    typed += ["--endurance", "3000", "--daily-writes", "1GiB"]
    assert dict(advice) == command(*typed)
    assert advice.answer.startswith("sepbit reaches a write amplification of 1.8 with ")
    assert list(advice.needs) == ["sepbit", "1r-greedy"]
    rows = advice.to_arrow()
    assert {"ftl", "op_ratio", "waf", "verdict"} <= set(rows.column_names)
    assert rows.num_rows == sum(len(curve["points"]) for curve in advice["curves"])
    assert counted
    assert "sepbit" in repr(advice)


def test_the_memory_that_a_map_needs_is_that_of_the_command():
    drive = ftlab.Drive("16MiB", op="20%", pages_per_block=32)
    advice = ftlab.mapping_cache("hotcold", "1r-greedy", sizes=["8KiB", 32768], drive=drive, once=True)
    typed = ["advise", "hotcold", "--logical", "16MiB", "--op", "20%", "--pages-per-block", "32", "--once"]
    assert dict(advice) == command(*typed, "--ftl", "1r-greedy", "--mapping-cache=8KiB,32KiB")
    assert advice.hits[32768] == 1.0
    assert [point["cache_bytes"] for point in advice["curves"][0]["points"]] == [8192, 32768]
    assert advice.answer in repr(advice)
    with pytest.raises(ftlab.errors.ParameterError, match="a number above 1"):
        ftlab.mapping_cache("hotcold", drive=drive, target_waf=0.5)


def test_advice_about_a_real_drive_is_that_of_the_command():
    advice = ftlab.advise("hotcold", real_drive="960GB, 7%, 3.75GB", ftls="1r-greedy", writes=600_000)
    typed = ["advise", "hotcold", "--drive", "960GB, 7%, 3.75GB", "--ftl", "1r-greedy", "--writes", "600000"]
    assert dict(advice) == command(*typed)
    assert advice.answer.startswith("With 7.0% of over-provisioning, a drive of 960 GB amplifies ")
    board = ftlab.compare(
        "hotcold", ["1r-greedy", "2r++"], baseline="1r-greedy", real_drive="960GB, 7%", writes=300_000
    )
    assert board["drive"] == "a drive of 960 GB with 7% of over-provisioning"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"real_drive": "7%"}, "a drive: its capacity"),
        ({"real_drive": "7.68TB", "drive": "32MiB"}, "leave out those of drive"),
        ({"target_waf": 0.9}, "target_waf=0.9 is not a number above 1"),
        ({"target_waf": 1.5, "dwpd": 1, "endurance": 3000}, "one of target_waf, tbw and dwpd"),
        ({"tbw": 100}, "endurance"),
        ({"target_waf": 1.5, "op": ["10%", "7%"]}, "in ascending order"),
        ({"target_waf": 1.5, "op": [28]}, "did you mean 28%"),
        ({"target_waf": 1.5, "drive": ftlab.Drive("32MiB", op="7%")}, "as the argument op"),
    ],
)
def test_questions_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ftlab.errors.ParameterError, match=message):
        ftlab.advise("hotcold", **{"drive": DRIVE} | arguments)


def test_a_response_time_is_a_target_at_a_load(tmp_path):
    jobs = tmp_path / "mixed.fio"
    jobs.write_text("[mixed]\nfilename=/dev/drive\nrw=randrw\nrwmixread=70\nnorandommap\nio_size=256m\n")
    asked = {
        "slo": "read-p99=30ms",
        "load": 2000,
        "timing": "slc:luns=4",
        "ftls": "fifo",
        "op": ["20%", "40%"],
    }
    advice = ftlab.advise(jobs, drive=DRIVE, once=True, **asked)
    assert advice.answer.startswith("fifo reaches 30 ms as p99 of reads at 2,000 requests a second with ")
    assert all(point["response_ns"] > 0 for point in advice["curves"][0]["points"])
    for wrong, message in [
        ({"load": None}, "load"),
        ({"slo": "p99"}, "read-p99.9=1ms"),
        ({"target_waf": 2}, "slo"),
    ]:
        with pytest.raises(ftlab.errors.ParameterError, match=message):
            ftlab.advise(jobs, drive=DRIVE, **asked | wrong)


def test_a_table_is_advised_on_too():
    pages = [n % 900 if n % 4 == 0 else n * 7919 % 300 for n in range(1500)]
    advice = ftlab.advise(pages, target_waf=1.5, drive="8MiB", ftls="1r-greedy", op=["20%", "40%"])
    assert advice["evidence"]["page_writes"] == 1500
    assert any("trace is short" in caveat for caveat in advice.caveats)


def test_a_scoreboard_is_that_of_the_command(tmp_path):
    ftls = ["1r-greedy", "2r++", "sepbit"]
    told = []
    board = ftlab.compare(
        "hotcold",
        ftls,
        drive="32MiB",
        op=["10%", "28%"],
        out=tmp_path,
        progress=lambda *done: told.append(done),
    )
    typed = ["compare", "hotcold", "--logical", "32MiB", "--op", "10%,28%", "--out", str(tmp_path)]
    of_command = command(*typed, *(word for ftl in ftls for word in ("--ftl", ftl)))
    assert {key: board[key] for key in of_command} == of_command
    assert set(board.relative) == set(ftls)
    assert board.relative["sepbit"] == pytest.approx(1)
    cells = board.to_arrow()
    assert cells.num_rows == 6
    alone = ftlab.run("hotcold", "2r++", drive=ftlab.Drive("32MiB", op="28%"))
    rows = [row for row in cells.to_pylist() if row["ftl"] == "2r++" and row["op_ratio"] == 0.28]
    assert rows[0]["waf"] == alone["2r++"].waf
    assert board.to_arrow("scores").num_rows == 3
    assert board.to_arrow("workloads").num_rows == 3
    assert told[-1] == (6, 6) or told[-1][1] in (6, None)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ftlab.errors.ParameterError, match="a trace file or a generator"):
        ftlab._core.compare(([ftlab._workload.core_workload([1, 2])], [], [], [], ["7%"], []), ".", {}, None)
    with pytest.raises(ftlab.errors.ParameterError, match="did you mean"):
        ftlab.compare("uniform", "hazrd", drive="8MiB")


def test_ctrl_c_stops_advice():
    def interrupt():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ftlab.advise("zipf:theta=0.9", target_waf=1.2, drive="8GiB")
    assert time.monotonic() - begun < 30
