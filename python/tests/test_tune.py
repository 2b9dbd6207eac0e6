"""Parameter searches: what they find, that they repeat, and how they stop and resume."""

import json
import shlex
import subprocess
import sys

import numpy as np
import pytest

import ftlab
from ftlab import _tune_command
from ftlab._space import Space

DRIVE = ftlab.Drive(logical_pages=8192, pages_per_block=32)
PAGES = np.random.default_rng(1).zipf(1.2, 60_000) % 8192
SPACE = {"level": ["block", "page"], "regions": (2, 4)}


def tune(ftl="2r-fifo", workload="hotcold:writes=0.9,pages=0.1", **options):
    options = {"drive": DRIVE, "fill": "random", "trials": 12, **options}
    return ftlab.tune(ftl, workload, **options)


@pytest.fixture(scope="module")
def tuned():
    return tune()


def test_the_best_is_no_worse_than_the_default_and_repeats(tuned):
    assert tuned.trials[0].ftl == tuned.default.ftl == "2r-fifo"
    assert tuned.best.waf == min(trial.waf for trial in tuned.trials) < tuned.default.waf
    again = ftlab.run("hotcold:writes=0.9,pages=0.1", tuned.best.ftl, drive=DRIVE, fill="random")
    assert list(again.waf.values()) == [tuned.best.waf]
    assert tuned.gain == 1 - tuned.best.waf / tuned.default.waf
    assert repr(tuned).startswith(f"<ftlab.Tuning: {tuned.best.ftl}, WAF ")


def test_the_command_runs_default_and_best(tuned):
    words = shlex.split(tuned.command)
    assert words[:3] == ["ftlab", "run", "hotcold:writes=0.9,pages=0.1"]
    assert words[3:9] == ["--pages-per-block", "32", "--logical-pages", "8192", "--fill", "random"]
    assert words[9:] == ["--ftl", tuned.default.ftl, "--ftl", tuned.best.ftl]
    assert tune(workload=PAGES, trials=1).command is None


def test_tables_have_a_row_for_each_trial(tuned, tmp_path):
    frame = tuned.to_pandas()
    assert list(frame.columns[:5]) == ["ftl", "victims", "blk-util", "scan-depth", "fallback"]
    assert frame.waf.tolist() == [trial.waf for trial in tuned.trials]
    paths = tuned.save(tmp_path / "out")
    assert [path.name for path in paths] == ["tuning.json", "trials.csv", "pareto.svg"]
    assert json.loads(paths[0].read_text())["best"]["ftl"] == tuned.best.ftl
    assert len(paths[1].read_text().splitlines()) == 1 + len(tuned.trials)


def test_threads_do_not_change_trials_and_seeds_do(tuned):
    assert tune(threads=1).trials == tune(threads=3).trials == tuned.trials
    assert tune(seed=2).trials != tuned.trials


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(tuned, tmp_path):
    def stop(status):
        if status.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(out=tmp_path, progress=stop)
    seen = []
    assert tune(out=tmp_path, trials=7, progress=seen.append).trials == tuned.trials[:7]
    assert [(status.done, status.trials) for status in seen] == [(5, 7), (6, 7), (7, 7)]
    assert seen[-1].waf == min(trial.waf for trial in tuned.trials[:7])
    assert tune(out=tmp_path).trials == tuned.trials
    assert tune(out=tmp_path, progress=stop).trials == tuned.trials


def test_one_process_at_a_time_searches_in_a_directory(tmp_path):
    def search_too(status):
        with pytest.raises(ftlab.errors.FileError, match="another process is searching"):
            tune(out=tmp_path)

    tune(out=tmp_path, trials=2, progress=search_too)
    assert len(tune(out=tmp_path, trials=3).trials) == 3


def test_a_study_of_something_else_is_refused(tmp_path):
    tune(out=tmp_path, workload=PAGES, trials=2)
    with pytest.raises(
        ftlab.errors.ParameterError, match=r"metadata_budget no value, not \"1MiB\"; choose another"
    ):
        tune(out=tmp_path, workload=PAGES, metadata_budget="1MiB")
    with pytest.raises(ftlab.errors.ParameterError, match="the workload or ftlab has changed"):
        tune(out=tmp_path, workload=PAGES[:50_000])
    (tmp_path / "file").touch()
    with pytest.raises(ftlab.errors.FileError, match="choose another directory"):
        tune(out=tmp_path / "file")


def test_a_study_resumes_with_the_same_trace_elsewhere_and_not_with_another(tmp_path):
    trace = tmp_path / "trace.u32"
    trace.write_bytes(PAGES.astype("<u4").tobytes())
    options = {"out": tmp_path / "out", "trials": 2}

    def of(path, **more):
        return tune(workload=ftlab.Trace(path, format="lpn-u32"), **options, **more).trials

    first = of(trace)
    copy = trace.rename(tmp_path / "copy.u32")
    drive = ftlab.Drive(logical_pages=8192, pages_per_block=32, reserve=4)
    assert of(copy, warmup_writes=0, drive=drive) == first
    changed = PAGES.copy()
    changed[20_000:40_000] = changed[20_000:40_000][::-1] ^ 1
    trace.write_bytes(changed.astype("<u4").tobytes())
    with pytest.raises(ftlab.errors.ParameterError, match="the workload or ftlab has changed"):
        of(trace)
    with pytest.raises(ftlab.errors.ParameterError, match=r'has settings .*"fill": "random".*; choose'):
        tune(workload=ftlab.Trace(copy, format="lpn-u32"), fill="none", **options)


def test_a_budget_keeps_out_what_remembers_more():
    free = tune("dac-greedy", space=SPACE, fix={"window": 0}, trials=16)
    assert free.budget_bytes is None
    assert free.searched == {"regions": "2..4", "level": "block|page"}
    tight = tune("dac-greedy", space=SPACE, fix={"window": 0}, trials=16, metadata_budget="1bit/page")
    assert tight.budget_bytes == 1024
    within = [trial for trial in tight.trials if trial.within_budget]
    assert 0 < len(within) < 16
    assert tight.best.waf == min(trial.waf for trial in within)
    assert all((trial.metadata_bytes <= 1024) == trial.within_budget for trial in tight.trials)
    with pytest.raises(
        ftlab.errors.ParameterError, match=r"within the metadata budget of 1 bytes; .* has the least"
    ):
        tune("dac-greedy", metadata_budget=1, trials=2)


def test_the_pareto_front_is_what_nothing_beats():
    tuned = tune("dac-greedy", space=SPACE, trials=16)
    front = {(trial.metadata_bytes, trial.waf) for trial in tuned.pareto}
    points = {(trial.metadata_bytes, trial.waf) for trial in [tuned.default, *tuned.trials]}
    assert front == {
        (size, waf)
        for size, waf in points
        if not any(a <= size and b <= waf and (a, b) != (size, waf) for a, b in points)
    }
    assert tuned.figure()._repr_png_().startswith(b"\x89PNG")


def test_parameters_without_effect_are_set_back():
    best = tune("2r++", space={"victims": "cost-benefit"}, trials=4).best
    assert best.ftl == "2r++:victims=cost-benefit"


def test_trials_whose_parameters_do_not_go_together_fail_alone():
    tuned = tune("fdp-freq", PAGES, space={"detector": "bloom|oracle"}, trials=12)
    failed = [trial for trial in tuned.trials if trial.error]
    assert 0 < len(failed) < 12
    assert all("the workload does not say where its hot pages are" in trial.error for trial in failed)
    with pytest.raises(ftlab.errors.ParameterError, match="all trials failed, the first with: fdp-freq"):
        tune("fdp-freq", PAGES, fix={"detector": "oracle"}, trials=2)


def test_validation_is_on_other_writes(tuned):
    seen = tune(trials=2, validate="zipf:theta=0.9").validation
    other = ftlab.run("zipf:theta=0.9", ["2r-fifo"], drive=DRIVE, fill="random", seed=2)
    assert (seen.workload, seen.default) == ("zipf:theta=0.9, seed 2", other.waf["2r-fifo"])

    seen = tune(workload=PAGES, writes=20_000, warmup_writes=5_000, trials=2, validate="rest").validation
    rest = ftlab.run(PAGES, "2r-fifo", drive=DRIVE, fill="random", warmup_writes=25_000)
    assert (seen.workload, seen.default) == (
        "the ndarray after its first 25,000 page writes",
        rest.waf["2r-fifo"],
    )


def ranges(ftl, fix=(), given=()):
    return Space(ftl, dict(fix), dict(given)).ranges


def test_the_space_follows_from_limits_and_defaults():
    assert ranges("2r-fifo") == {
        "victims": "fifo-scan|region-fifo|region-fifo-skipping|greedy|cost-benefit|d-choices",
        "blk-util": "0..1",
        "scan-depth": "0..1",
        "fallback": "raise|greedy-in-depth|greedy|fifo",
        "adapt-depth": "on|off",
        "d": "1..320",
    }
    wide = Space("sepbit", {}, {})
    assert wide.ranges["blocks"] == "1..512"
    assert [d.name for d in wide.dimensions if d.log] == ["blocks", "steps", "batch"]
    assert ranges("lru/greedy") == {"hot": "16..16400", "candidates": "48..49000"}
    assert "default 0" in Space("dac-cb", {}, {}).omitted["window"]
    assert Space("single/random", {}, {"seed": "1..9"}).ranges == {"seed": "1..9"}


def test_parameters_that_are_given_are_not_searched():
    assert list(ranges("2r-fifo:blk-util=0.4", {"fallback": "greedy"})) == [
        "victims",
        "scan-depth",
        "adapt-depth",
        "d",
    ]
    space = Space("2r-fifo:blk-util=0.4", {"fallback": "greedy"}, {"scan-depth": "0.3..0.9"})
    assert space.ftl({"scan-depth": "0.5"}) == "2r-fifo:blk-util=0.4,fallback=greedy,scan-depth=0.5"
    assert space.default_trial.ftl == "2r-fifo:blk-util=0.4"
    assert space.start() is None


@pytest.mark.parametrize(
    ("ftl", "options", "expected"),
    [
        ("2r-fifi", {}, 'did you mean "2r-fifo"'),
        ("2r-greedy", {}, "there is no parameter to search: it has none"),
        ("single/random", {}, r"no parameter to search: seed \(a seed is not worth tuning\)"),
        ("2r-fifo", {"fix": {"levels": 6}}, '2r-fifo has no parameter "levels"'),
        ("2r-fifo", {"space": {"blkutil": (0, 1)}}, 'did you mean "blk-util"'),
        ("2r-fifo", {"space": {"blk-util": (0.5, 2)}}, "blk-util=2 is not a number in 0.0..=1.0"),
        ("2r-fifo", {"space": {"blk-util": "0.7..0.3"}}, "the lower one first, such as 0.3..0.7"),
        ("2r-fifo", {"space": {"fallback": "raise|x"}}, "fallback=x is not one of raise"),
        (
            "2r-fifo:blk-util=1",
            {"space": {"blk-util": "0..1"}},
            "blk-util has a fixed value and cannot be searched",
        ),
        ("2r-fifo", {"metadata_budget": "4B/sector"}, "a budget of metadata, such as 4B/page"),
        ("2r-fifo", {"trials": 0}, "trials: 0 is not a whole number of at least 1"),
        ("2r-fifo", {"validate": "rest"}, "is the part of the trace after writes; give writes"),
        ("2r-fifo", {"workload": iter([PAGES])}, "an iterator is read once"),
    ],
)
def test_what_cannot_be_searched_is_an_error(ftl, options, expected):
    with pytest.raises(ftlab.errors.ParameterError, match=expected):
        tune(ftl, **options)


def test_the_package_needs_no_optuna_without_a_search():
    code = "import sys, ftlab; assert 'optuna' not in sys.modules; sys.modules['optuna'] = None\n"
    code += "ftlab.tune('2r-fifo', 'uniform', drive='16MiB')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'ftlab[tune]'" in done.stderr.splitlines()[-1]


def command(capsys, **options):
    """What the command does with options as Rust hands them over."""
    drive = {"logical_pages": "8192", "pages_per_block": "32", "fill": "random"}
    given = {"version": ftlab.__version__, "ftl": "2r-fifo", "workload": "uniform", "trials": "3"}
    code = _tune_command.main(json.dumps({**given, **drive, **options}))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_command_shows_best_and_default(capsys, tmp_path):
    out = str(tmp_path / "out")
    code, text, said = command(capsys, space=["blk-util=0.4..0.6"], out=out, validate="zipf:theta=0.9")
    assert code == 0
    assert "trials: " in text
    assert "blk-util: 0.4..0.6" in text
    assert "zipf:theta=0.9, seed 2, not used in the search" in text
    assert "ftlab run uniform --pages-per-block 32 --logical-pages 8192" in text
    assert "pareto.svg" in said
    code, text, said = command(capsys, space=["blk-util=0.4..0.6"], out=out, json=True, quiet=True)
    assert json.loads(text)["searched"]["blk-util"] == "0.4..0.6"
    assert "default" in said


def test_the_command_reads_traces_as_it_is_told(capsys, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("".join(f"a,W,{i * 7919 % 4096},1\nb,W,{i},1\n" for i in range(30_000)) + "?\n")
    options = {
        "map": "volume:name=1,op=2,off:pages=3,len:pages=4",
        "volume": ["a"],
        "skip_bad": "1",
        "compact": "page",
    }
    code, text, said = command(capsys, workload=str(trace), fix=["fallback=greedy"], **options)
    assert (code, said) == (0, "")
    assert f"{trace} --volume a --map volume:name=1,op=2,off:pages=3,len:pages=4 --compact=4KiB " in text
    assert " --skip-bad 1%" in text


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        ({"version": "0.0.1"}, 1, "the command is ftlab 0.0.1, but the Python package"),
        ({"fix": ["fallback"]}, 2, "--fix 'fallback' is not a parameter and its values"),
        ({"metadata_budget": "1B"}, 2, "no trial is within the metadata budget of 1 bytes"),
        ({"workload": "absent.parquet"}, 2, "absent.parquet"),
    ],
)
def test_the_command_says_what_is_wrong(options, code, expected, capsys):
    exited, text, said = command(capsys, **options)
    assert (exited, text) == (code, "")
    assert said.startswith("error: ")
    assert expected in said
