"""Policies in Python."""

import importlib.util
from pathlib import Path

import pytest

import ftlab

EXAMPLE = Path(__file__).parents[1] / "examples" / "two_r_greedy.py"
COUNTS = (
    "host_writes",
    "relocations",
    "erases",
    "trims",
    "collections",
    "running_relocations",
    "running_erases",
    "running_cold_region_share",
    "victim_valid_share",
    "streams",
    "erase_counts",
    "memory",
)


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("two_r_greedy", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("workload", "settings"),
    [
        ("zipf:theta=0.9", {"fill": "random"}),
        ("uniform", {"fill": "sequential"}),
        ("hotcold:writes=0.9,pages=0.1", {"fill": "random", "seed": 3}),
        ("skew", {"fill": "random"}),
        ("zipf:theta=1.1", {"fill": "random", "faults": "program=1e-4,erase=1e-3,seed=2"}),
    ],
)
def test_the_example_equals_the_ftl_in_rust(example, workload, settings, small):
    ftls = [example.TwoRGreedy(), "2r-greedy"]
    result = ftlab.run(workload, ftls, drive=small, drive_writes=3, **settings)
    python, rust = ({name: run[name] for name in COUNTS} for run in result.runs)
    for run in (python, rust):
        run["memory"] = run["memory"]["metadata_bytes"]
    assert python == rust
    assert python["relocations"] > 0


def test_the_example_runs(example, capsys):
    example.main()
    ours, theirs = capsys.readouterr().out.splitlines()
    assert ours.split(":")[1] == theirs.split(":")[1]


class Greedy(ftlab.Policy):
    def select_victims(self, drive, requester, valid_pages_max):
        return [min(drive.sealed_blocks(), key=drive.valid_pages)]


def test_events_are_told_and_the_drive_is_seen(small):
    class Watching(Greedy):
        def setup(self, blocks, pages_per_block, logical_pages, reserve_blocks):
            self.blocks, self.open, self.sealed, self.erased, self.invalid = blocks, 0, 0, 0, 0

        def on_block_opened(self, block, drive):
            self.open += 1
            assert drive.open_block(0) == block

        def on_block_sealed(self, block, drive):
            self.sealed += 1
            assert drive.is_sealed(block)

        def on_block_erased(self, block, drive):
            self.erased += 1

        def on_invalidate(self, block, drive):
            self.invalid += 1
            assert drive.valid_pages(block) < drive.pages_per_block

    policy = Watching()
    run = ftlab.run("uniform", policy, drive=small).runs[0]
    assert policy.blocks == 282
    assert policy.erased == run["erases"] > 0
    assert policy.open >= policy.sealed > policy.erased
    assert 0 < policy.invalid <= run["host_writes"]


@pytest.mark.parametrize(
    "method", ["setup", "place_host", "place_relocation", "select_victims", "on_block_erased"]
)
def test_what_a_policy_raises_comes_out_as_it_is(method, small):
    def broken(self, *arguments):
        raise ZeroDivisionError(method)

    policy = type("Broken", (Greedy,), {method: broken})()
    with pytest.raises(ZeroDivisionError, match=method):
        ftlab.run("uniform", policy, drive=small)


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("place_host", 7, "placed a page in stream 7, but has 1"),
        ("place_relocation", 7, "placed a page in stream 7"),
        ("select_victims", [10_000], "chose block 10000"),
        ("select_victims", [], "chose no victim with an invalid page"),
    ],
)
def test_an_answer_that_no_policy_may_give_is_named(method, answer, message, small):
    policy = type("Wrong", (Greedy,), {method: lambda self, *arguments: answer})()
    with pytest.raises(ftlab.errors.PolicyError, match=message):
        ftlab.run("uniform", policy, drive=small)


def test_a_policy_has_to_choose_victims(small):
    with pytest.raises(NotImplementedError, match="which blocks to collect"):
        ftlab.run("uniform", ftlab.Policy(), drive=small)


def test_the_drive_cannot_be_kept(small):
    class Keeping(Greedy):
        def place_host(self, lpn, drive):
            self.kept = drive
            return 0

    policy = Keeping()
    ftlab.run("uniform", policy, drive=small)
    with pytest.raises(RuntimeError, match="do not keep it"):
        policy.kept.free_blocks  # noqa: B018


def test_names_of_policies_are_their_own(small):
    with pytest.raises(ftlab.errors.ParameterError, match="already"):
        ftlab.run("uniform", type("fifo", (Greedy,), {})(), drive=small)
