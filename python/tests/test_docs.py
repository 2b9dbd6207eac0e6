"""Docstrings and guides hold what they promise."""

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ftlab

ROOT = Path(__file__).parents[2]
MODULES = [
    module.name for module in pkgutil.walk_packages(ftlab.__path__, "ftlab.") if module.name != "ftlab._core"
]
MANUAL = sorted((ROOT / "docs").glob("*.md"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


@pytest.mark.parametrize("name", ["ftlab", *MODULES])
def test_examples_of_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


def public():
    for module in (ftlab, ftlab.errors, ftlab.model, ftlab.plot):
        for name in module.__all__:
            yield f"{module.__name__}.{name}", getattr(module, name)


@pytest.mark.parametrize(("name", "value"), [pytest.param(*one, id=one[0]) for one in public()])
def test_everything_public_has_a_docstring(name, value):
    if not isinstance(value, str):
        assert inspect.getdoc(value), name


def test_everything_of_a_drive_that_policies_see_has_a_docstring():
    for name, member in vars(ftlab.DriveView).items():
        if not name.startswith("_"):
            assert inspect.getdoc(member), name


def test_every_command_has_examples_on_its_page():
    program = Path(sys.executable).parent / "ftlab"
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    listed = text.partition("\nCommands:\n")[2].split("\n\n")[0]
    commands = set(re.findall(r"^  ([a-z][a-z-]*)", listed, re.MULTILINE)) - {"help"}
    examples = tomllib.loads((ROOT / "docs/_ext/examples.toml").read_text(encoding="utf-8"))
    assert set(examples) == commands
    assert [name for name in commands if len(examples[name]) < 2] == []


def blocks(file):
    return re.findall(r"```python\n(.*?)```", (ROOT / file).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("file", ["docs/python.md", "docs/tune.md"])
def test_examples_of_guides_run(file, tmp_path):
    text = "\n".join(blocks(file))
    assert "import ftlab" in text
    script = tmp_path / "guide.py"
    script.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, script], cwd=tmp_path, check=True, timeout=300)


def test_the_guide_needs_five_lines_to_a_plot():
    text = blocks("docs/python.md")[0]
    assert "ftlab.plot." in text
    assert len([line for line in text.splitlines() if line.strip()]) <= 5


def test_the_stubs_name_what_the_compiled_part_has():
    stubs = (ROOT / "python/ftlab/_core.pyi").read_text(encoding="utf-8")
    named = set(re.findall(r"^(?:class |def |(?=[A-Z_]+:))(\w+)", stubs, re.MULTILINE))
    has = {name for name in dir(ftlab._core) if not name.startswith("_")}
    assert named == has


def test_the_api_page_names_everything_public():
    page = (ROOT / "docs/python-api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\.\. auto(?:function|class|module):: (?:ftlab\.)?(\S+)$", page, re.MULTILINE))
    elsewhere = {"FtlabError", "__version__"}
    assert named == set(ftlab.__all__) - elsewhere


def test_the_manual_is_short():
    words = {page.name: len(page.read_text(encoding="utf-8").split()) for page in MANUAL}
    assert sum(words.values()) <= 40_000, f"shorten it, or move what was tried to docs/notes: {words}"


def test_the_manual_links_the_notebook_once():
    links = {page.name: page.read_text(encoding="utf-8").count("](notes/") for page in MANUAL}
    assert {name: count for name, count in links.items() if count} == {"index.md": 1}


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_a_page_of_the_manual_has_a_command_and_a_picture(page):
    text = page.read_text(encoding="utf-8")
    assert re.search(r"^(?: {4}|)(?:sudo )?(?:ftlab|make|pip|python3|cargo) ", text, re.MULTILINE)
    pictures = re.findall(r"^!\[[^]]+\]\(([^)]+\.(?:svg|png))\)", text, re.MULTILINE)
    assert pictures
    assert [path for path in pictures if not (page.parent / path).exists()] == []


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_a_sentence_of_the_manual_is_read_in_one_breath(page):
    long = [text for text in sentences(page.read_text(encoding="utf-8")) if len(text.split()) > 25]
    assert long == []


def sentences(text):
    """The sentences of paragraphs and lists, without code, tables, headings and pictures."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4}|\||#).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=(?:[-*]|\d+\.) )", text):
        yield from re.split(
            r"(?<=[.!?])[)\"'*]*\s+(?=[A-Z`*(\"\d]|ftlab |\w+\.\w)", " ".join(paragraph.split())
        )
