"""The command ``ftlab`` that comes with the package."""

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

import ftlab

SCRIPT = Path(sysconfig.get_path("scripts"), "ftlab")
RUN = "run uniform --logical-pages 8192 --pages-per-block 32 --fill random --ftl 1r-greedy"

pytestmark = pytest.mark.skipif(
    not SCRIPT.exists(), reason=f"{SCRIPT} does not exist: the package was imported, but not installed"
)


def start(arguments, **options):
    """The command, with pipes."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([SCRIPT, *arguments.split()], **{"text": True, **pipes, **options})


def said(arguments, **options):
    """Exit status, standard output and standard error of the command."""
    process = start(arguments, **options)
    out, error = process.communicate(timeout=120)
    return process.returncode, out, error


def test_it_counts_what_the_function_counts(small):
    code, out, _ = said(f"{RUN} --json --quiet")
    assert code == 0
    typed = json.loads(out)
    called = ftlab.run("uniform", "1r-greedy", drive=small, fill="random")
    assert typed["runs"][0]["waf"] == called.waf["1r-greedy"]
    assert typed["command"] == f"ftlab {RUN} --json --quiet"


def test_it_has_the_version_of_the_package():
    code, out, err = said("--version")
    assert (code, err) == (0, "")
    # A clone adds the commit.
    assert re.fullmatch(rf"ftlab {re.escape(ftlab.__version__)}( \(\S+\))?\n", out)


def test_the_interpreter_runs_it_as_a_module():
    command = [sys.executable, "-m", "ftlab", "--version"]
    assert subprocess.check_output(command, text=True) == said("--version")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ("fly uniform", 2, "unrecognized subcommand 'fly'"),
        ("run uniform --ftl 2r-fifo:blkutil=1", 2, "blk-util"),
        ("run ./absent.parquet --ftl 2r++", 1, "./absent.parquet"),
        ("", 2, "Usage: ftlab <COMMAND>"),
    ],
)
def test_exit_statuses_are_those_of_the_program(arguments, code, expected):
    status, out, error = said(arguments)
    assert (status, out) == (code, "")
    assert expected in error


def test_help_imports_nothing_that_takes_time():
    importing = os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}
    code, out, error = said("--help", env=importing)
    assert code == 0
    assert "Usage: ftlab" in out
    imported = {line.rpartition("|")[2].strip() for line in error.splitlines()}
    assert "ftlab._core" in imported
    assert not imported & {"numpy", "pyarrow", "matplotlib", "tqdm", "json"}


def test_it_reads_standard_input_and_minds_no_reader_that_left(tmp_path):
    trace = "".join(f"W,{index * 7919 % 4096},1\n" for index in range(20_000))
    reading = "--map op=1,off:pages=2,len:pages=3"
    process = start(f"convert - {tmp_path / 'trace.parquet'} {reading}")
    _, error = process.communicate(trace, timeout=120)
    assert process.returncode == 0, error

    process = start("list ftls")
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    assert process.stderr.read() == ""


def test_arguments_need_not_be_text(tmp_path):
    name = os.fsdecode(b"no-\xff-text")
    code, _, error = said(f"report {name}", cwd=tmp_path)
    assert code == 2
    assert "-text/results.json: No such file" in error


def test_ctrl_c_ends_a_run_at_once():
    process = start("run uniform --logical 4GiB --fill random --drive-writes 1000 --ftl 1r-greedy")
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == -signal.SIGINT


def test_tuning_runs_in_the_interpreter_of_the_command():
    absent = {key: value for key, value in os.environ.items() if key != "FTLAB_PYTHON"} | {"PATH": ""}
    search = "tune 2r-fifo uniform --logical-pages 8192 --pages-per-block 32 --fill random --trials 2 --json"
    code, out, error = said(search, env=absent)
    assert code == 0, error
    assert len(json.loads(out)["trials"]) == 2
