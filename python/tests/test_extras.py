"""What needs a package that an extra installs, and what does not."""

import subprocess
import sys

import pytest

DRIVE = "ftlab.Drive('16MiB', pages_per_block=32)"
RUN = f"ftlab.run('uniform', 'sepbit', drive={DRIVE}, fill='random', observe=True)"


WITHOUT = """
import sys

class Absent:
    def find_spec(name, path=None, target=None):
        if name in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent)
import ftlab
"""


def python(code, *, without):
    """Runs code as if these packages were missing."""
    program = WITHOUT.format(absent=tuple(without)) + code
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


EXTRAS = ("distributed", "matplotlib", "optuna", "pandas")


def test_a_run_needs_no_extra(tmp_path):
    code = f"result = {RUN}\nresult.to_arrow('cells')\nresult.report({str(tmp_path / 'report.html')!r})"
    done = python(code, without=EXTRAS)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("code", "package", "extra"),
    [
        ("ftlab.plot.waf", "matplotlib", "plot"),
        ("ftlab.plot.flash", "matplotlib", "plot"),
        (f"{RUN}.to_pandas()", "pandas", "notebook"),
        ("ftlab.tune('2r-fifo', 'uniform', drive='16MiB')", "optuna", "tune"),
    ],
)
def test_what_is_missing_is_named_with_the_extra_that_brings_it(code, package, extra):
    done = python(code, without=[package])
    assert f"pip install 'ftlab[{extra}]'" in done.stderr.splitlines()[-1]


def test_every_name_is_listed_before_it_is_imported():
    code = "import ftlab.plot\nfor package in (ftlab, ftlab.plot):\n"
    code += "    assert set(package.__all__) <= set(dir(package))\n"
    code += "assert 'numpy' not in sys.modules"
    done = python(code, without=())
    assert done.returncode == 0, done.stderr
