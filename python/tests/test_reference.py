"""The reference model of the Rust tests counts what they expect of the engine."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2] / "crates/ftlab-ftl/tests"


@pytest.mark.skipif(not shutil.which("zstd"), reason="zstd, which unpacks the sequence, is not installed")
def test_rows_of_the_short_sequence_are_what_the_reference_model_counts():
    sequence = TESTS / "data/z11-every-16th.u32.zst"
    command = [sys.executable, TESTS / "reference.py", "count", sequence, "144", "32", "4096", "4096"]
    rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    golden = (TESTS / "it/golden.rs").read_text(encoding="utf-8")
    table = golden.partition("const SHORT: ")[2].partition("= [\n")[2].partition("];")[0]
    assert rows == table
