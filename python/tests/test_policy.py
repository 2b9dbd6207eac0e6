"""Policies in Python."""

import importlib.util
from pathlib import Path
from typing import ClassVar

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
        def place_host(self, lpn, hint, drive):
            self.kept = drive
            return 0

    policy = Keeping()
    ftlab.run("uniform", policy, drive=small)
    with pytest.raises(RuntimeError, match="do not keep it"):
        policy.kept.free_blocks  # noqa: B018


def test_names_of_policies_are_their_own(small):
    with pytest.raises(ftlab.errors.ParameterError, match="already"):
        ftlab.run("uniform", type("fifo", (Greedy,), {})(), drive=small)


@pytest.fixture
def apart(monkeypatch):
    """A registered policy with parameters of every kind, which asks for lifetimes."""
    monkeypatch.setattr("ftlab._own._REGISTERED", {})

    @ftlab.register
    class Apart(Greedy):
        """Keeps pages apart that are rewritten soon."""

        name = "apart"
        source = "a test"
        parameters = (
            ftlab.parameter("most", int, None, "Host writes at most.", low=1, high=100_000),
            ftlab.parameter("share", float, 0.5, "A share.", low=0, high=1),
            ftlab.parameter("on-trim", bool, False, "A switch."),
            ftlab.parameter("order", str, "fifo", "An order.", choices=["fifo", "lifo"]),
            ftlab.parameter("label", str, "none", "A label."),
        )
        hints = "lifetimes"
        streams = (ftlab.Stream("soon", takes_relocations=False), ftlab.Stream("late", cold=True))
        made: ClassVar = []

        def fit(self, values, context):
            return {"most": context.logical_pages // 2} if values["most"] is None else {}

        def setup(self, *size):
            self.made.append(dict(self.values))

        def place_host(self, lpn, hint, drive):
            assert hint.stream is None
            return int(hint.lifetime is None or hint.lifetime > self.values["most"])

    return Apart


def test_a_registered_policy_has_parameters_hints_and_values_that_fit(apart, small):
    names = ["apart", "apart:most=1,on-trim,share=.25,order=lifo,label=x", "1r-greedy"]
    result = ftlab.run("zipf:theta=0.9", names, drive=small)
    parameters = [run["parameters"] for run in result.runs]
    assert parameters[0] == {
        "most": "4096",
        "share": "0.5",
        "on-trim": "off",
        "order": "fifo",
        "label": "none",
    }
    assert [parameters[1][name] for name in ("share", "on-trim", "order")] == ["0.25", "on", "lifo"]
    given = {"most": 1, "share": 0.25, "on-trim": True, "order": "lifo", "label": "x"}
    assert given in apart.made
    assert {"most": 4096, "share": 0.5, "on-trim": False, "order": "fifo", "label": "none"} in apart.made
    fitted, barely, greedy = (run["waf"] for run in result.runs)
    assert fitted < min(barely, greedy)


def test_a_registered_policy_is_listed_like_those_in_rust(apart):
    entry = ftlab.ftls()["apart"]
    assert (entry.kind, entry.summary) == ("ftl", "Keeps pages apart that are rewritten soon.")
    most, share, switch, order, label = entry.parameters
    assert (most.default, most.expects) == ("auto", "auto or a whole number in 1..=100000")
    assert (share.expects, share.kind, share.low, share.high) == ("a number in 0.0..=1.0", "number", 0, 1)
    assert (switch.expects, order.expects) == ("on or off", "one of fifo, lifo")
    assert label.expects == "a text without commas"


@pytest.mark.parametrize(
    ("ftl", "message"),
    [
        ("apart:share=2", "apart: share=2 is not a number in 0.0..=1.0"),
        ("apart:most=0", "most=0 is not auto or a whole number in 1..=100000"),
        ("apart:on-trim=x", "on-trim=x is not on or off"),
        ("apart:shar=1", 'no parameter "shar" .did you mean "share"'),
    ],
)
def test_values_of_registered_policies_are_checked(apart, small, ftl, message):
    with pytest.raises(ftlab.errors.ParameterError, match=message):
        ftlab.run("uniform", ftl, drive=small)


@pytest.mark.parametrize(
    ("fitted", "message"),
    [
        ({}, "most=auto has no value"),
        ({"most": 0}, "most=0 is not"),
        ({"least": 1}, "fit returned least, which is no parameter of it; it has most"),
        (
            {"most": 4096.0},
            r"most=4096.0, which is not auto or a whole number in 1..=100000; return one, such as int",
        ),
        ({"share": "half"}, "fit returned share=half, which is not a number in 0.0..=1.0"),
    ],
)
def test_what_fit_returns_is_checked(apart, small, fitted, message, monkeypatch):
    monkeypatch.setattr(apart, "fit", lambda self, values, context: fitted)
    with pytest.raises(ftlab.errors.ParameterError, match=message):
        ftlab.run("uniform", "apart", drive=small)


def test_fit_is_told_the_drive_and_the_areas(apart, small, monkeypatch):
    told = []

    def fit(self, values, context):
        told.append(context)
        return {"most": 1}

    monkeypatch.setattr(apart, "fit", fit)
    ftlab.run("hotcold:writes=0.9,pages=0.25", "apart", drive=small)
    assert (told[0].logical_pages, told[0].pages_per_block) == (8192, 32)
    assert told[0].oracle == ((0.25, 0.9), (0.75, pytest.approx(0.1)))


def test_streams_of_the_host_are_told(apart, small, monkeypatch):
    streams = set()

    def place_host(self, lpn, hint, drive):
        streams.add(hint.stream)
        return 0

    monkeypatch.setattr(apart, "hints", "streams")
    monkeypatch.setattr(apart, "place_host", place_host)
    ftlab.run("uniform", "apart", drive=small, streams="0..16MiB=3")
    assert 3 in streams


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("blk util", int, 1, "A number."), "made of letters, digits and dashes"),
        (("most", list, 1, "A number."), "not one of int, float, bool, str"),
        (("most", float, "x", "A number."), "most=x is not a number"),
    ],
)
def test_declarations_are_checked(arguments, message):
    with pytest.raises(ftlab.errors.ParameterError, match=message):
        ftlab.parameter(*arguments)
    with pytest.raises(ftlab.errors.ParameterError, match="at most 9"):
        ftlab.parameter("most", int, 10, "A number.", high=9)
    with pytest.raises(ftlab.errors.ParameterError, match="leave them out"):
        ftlab.parameter("most", str, "x", "A word.", high=9)
    with pytest.raises(ftlab.errors.ParameterError, match=r"low=3 above high=2.*exchange them"):
        ftlab.parameter("most", int, 2, "A number.", low=3, high=2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (lambda one: one, r"parameters=Parameter.* is not a tuple of ftlab.parameter.*write \(it,\)"),
        (lambda one: "most", "parameters='most' is not a tuple"),
        (lambda one: (one, "most"), "'most' among its parameters is none"),
        (lambda one: (one, one), "two parameters are named most; give one another name"),
    ],
)
def test_parameters_are_a_tuple_with_names_of_their_own(parameters, message):
    one = ftlab.parameter("most", int, 1, "A number.")
    with pytest.raises(ftlab.errors.ParameterError, match=message):
        ftlab.register(type("Wrong", (Greedy,), {"parameters": parameters(one)}))


def test_a_name_that_is_taken_is_not_registered():
    with pytest.raises(ftlab.errors.ParameterError, match="already"):
        ftlab.register(type("fifo", (Greedy,), {}))
    with pytest.raises(ftlab.errors.ParameterError, match="derive one"):
        ftlab.register(Greedy())
    with pytest.raises(ftlab.errors.ParameterError, match="hints=times is not"):
        ftlab.register(type("Telling", (Greedy,), {"hints": "times"}))


def test_a_registered_policy_is_tuned(apart, small):
    space = {"most": (100, 9000), "share": (0.1, 0.2)}
    tuned = ftlab.tune(
        "apart:order=lifo", "zipf", drive=small, drive_writes=1, trials=3, batch=1, space=space
    )
    assert sorted(tuned.searched) == ["most", "on-trim", "share"]
    assert (tuned.command, len([trial for trial in tuned.trials if trial.waf])) == (None, 3)


SWEPT = """
title = "A policy in Python"
workloads = ["zipf"]
ftls = ["apart:most={most}", "1r-greedy"]
drive = { logical-pages = 4096, pages-per-block = 32 }
run = { drive-writes = 1 }
grid = { most = ["1", "1000"] }
"""


def test_a_registered_policy_is_swept_and_its_results_are_kept(apart, tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text(SWEPT)
    sweep = lambda: ftlab.sweep(tmp_path / "own.toml", tmp_path / "results", progress=False)  # noqa: E731
    done = sweep()
    assert (done.ran, done.reused, done.failures) == (3, 0, [])
    rows = [row for row in done.to_arrow().to_pylist() if row["ftl"] != "1r-greedy"]
    assert [row["most"] for row in rows] == ["1", "1000"]
    assert rows[0]["waf"] != rows[1]["waf"]
    assert sweep().reused == 3
    monkeypatch.setattr(apart, "version", 2)
    ftlab.register(apart)
    assert sweep().ran == 2


def test_only_policies_in_python_take_turns(apart, tmp_path, monkeypatch):
    in_turn, told = [], []
    kept = ftlab._sweep._in_turn

    def listed(plan, jobs):
        in_turn.extend(name for job in jobs for _, name in job)
        return kept(plan, jobs)

    monkeypatch.setattr(ftlab._sweep, "_in_turn", listed)
    (tmp_path / "own.toml").write_text(SWEPT)
    done = ftlab.sweep(tmp_path / "own.toml", tmp_path / "results", progress=told.append)
    assert done.ran == 3
    assert len(in_turn) == 2
    assert all("ftl apart" in name for name in in_turn)
    assert (told[-1].runs, told[-1].done, told[-1].share) == (3, 3, 1)


def test_a_policy_that_raises_fails_only_its_runs(apart, tmp_path, monkeypatch):
    def broken(self, *arguments):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(apart, "place_host", broken)
    (tmp_path / "own.toml").write_text(SWEPT)
    with pytest.warns(RuntimeWarning, match="2 of the runs failed"):
        done = ftlab.sweep(tmp_path / "own.toml", tmp_path / "results", progress=False)
    assert done.ran == 1
    assert "ZeroDivisionError: broken" in done.failures[0].error
