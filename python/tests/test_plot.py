"""Plots of results and of inspections."""

import subprocess
import sys

import pytest

import ftlab
import ftlab.plot
from ftlab.plot._colours import region_colours

OF_INSPECTIONS = ["footprint", "heat_map", "intervals", "skew"]
NAMES = ftlab.plot.__all__


@pytest.fixture(scope="module")
def inspected():
    return ftlab.inspect("zipf:theta=0.9", drive="64MiB", writes=50_000)


@pytest.fixture
def subject(name, observed, inspected):
    return inspected if name in OF_INSPECTIONS else observed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_a_plot_is_drawn(name, kind, subject, tmp_path):
    path = tmp_path / f"plot.{kind}"
    getattr(ftlab.plot, name)(subject).savefig(path)
    assert path.stat().st_size > 2000


def test_matplotlib_is_imported_when_it_is_asked_for():
    code = "import sys, ftlab; assert 'matplotlib' not in sys.modules; ftlab.plot.waf"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    with pytest.raises(AttributeError, match="no attribute 'wfa'"):
        ftlab.plot.wfa  # noqa: B018


def test_plots_go_on_axes_that_are_given(observed):
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert ftlab.plot.waf(observed, ax=left) is figure
    assert ftlab.plot.cold_region(observed, ax=right) is figure
    assert [line.get_label() for line in left.lines] == ["1r-greedy", "2r++"]


def test_lines_are_those_of_the_result(observed):
    (axes,) = ftlab.plot.waf(observed).axes
    for line, run in zip(axes.lines, observed.runs, strict=True):
        assert list(line.get_ydata()) == run["running_waf"]


@pytest.mark.parametrize("name", ["flash", "spread", "utilisation", "moves", "response"])
def test_what_was_not_watched_is_an_error_that_says_how(name, small):
    result = ftlab.run("uniform", "1r-greedy", drive=small)
    with pytest.raises(ftlab.errors.ParameterError, match=r"observe=True|timing"):
        getattr(ftlab.plot, name)(result)


def test_figures_show_themselves_in_notebooks(observed):
    assert ftlab.plot.waf(observed)._repr_png_().startswith(b"\x89PNG")


def test_a_legend_of_many_lines_lies_above_them(small):
    ftls = ["1r-greedy", "2r-greedy", "2r-fifo", "2r++", "dac-cb", "sepbit"]
    result = ftlab.run("zipf:theta=0.9", ftls, drive=small, fill="random")
    figure = ftlab.plot.waf(result)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    lines, legend = axes.get_window_extent(), axes.get_legend().get_window_extent()
    assert legend.y0 >= lines.y1
    assert legend.y1 <= figure.bbox.y1


@pytest.mark.parametrize("ftl", ["1r-greedy", "2r++", "sepbit", "hazard:rungs=16"])
def test_every_region_has_a_colour_of_its_own(ftl, small):
    drive = ftlab.Drive(logical_pages=8192, pages_per_block=32, op="40%", reserve=24)
    (run,) = ftlab.run("uniform", ftl, drive=drive, drive_writes=1).runs
    colours = region_colours(run["streams"])
    assert list(colours) == [stream["name"] for stream in run["streams"]]
    assert len(set(colours.values())) == len(colours)


@pytest.mark.parametrize("name", OF_INSPECTIONS)
def test_a_workload_without_writes_is_an_error_that_says_so(name):
    found = ftlab.inspect({"lpn": [1], "op": ["trim"]}, drive="64MiB")
    with pytest.raises(ftlab.errors.ParameterError, match="nothing to draw"):
        getattr(ftlab.plot, name)(found)
