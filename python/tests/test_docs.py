"""Docstrings and guides hold what they promise."""

import doctest
import importlib
import inspect
import os
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
EXAMPLES = ROOT / "docs/_ext/examples.toml"
PROGRAM = Path(sys.executable).parent / "ftlab"
sys.path.insert(0, str(ROOT / "docs/_ext"))
console = importlib.import_module("console")
# Languages of what is no output of a command; that stands below its command, as `console`.
LANGUAGES = {"", "ini", "python", "sh", "toml", "{eval-rst}", "{toctree}"}
# Outputs that were written down, since no test can have the command's device, recording or time.
NOT_RUN_AT_MOST = 6
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
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    listed = text.partition("\nCommands:\n")[2].split("\n\n")[0]
    commands = set(re.findall(r"^  ([a-z][a-z-]*)", listed, re.MULTILINE)) - {"help"}
    examples = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    assert set(examples) == commands
    assert [name for name in commands if len(examples[name]) < 2] == []


BLOCKS = [block for page in (ROOT / "README.md", *MANUAL) for block in console.blocks_of(page)]
WRITTEN = [
    (name, example)
    for name, examples in tomllib.loads(EXAMPLES.read_text(encoding="utf-8")).items()
    for example in examples
    if "output" in example
]


def compare(file, shown, printed):
    """Fails if they differ, or writes what is printed now into the file: `make docs-outputs`."""
    if "FTLAB_WRITE_DOCS" not in os.environ:
        assert shown == printed, "`make docs-outputs` writes it again"
    elif shown != printed:
        text = file.read_text(encoding="utf-8")
        assert text.count(shown) == 1
        file.write_text(text.replace(shown, printed), encoding="utf-8")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page.name}-{block.line}")
def test_a_block_shows_what_its_commands_print(block, tmp_path):
    if block.not_run():
        pytest.skip(f"{block.page.name}, line {block.line}: {block.not_run()}")
    compare(block.page, block.text, block.run(PROGRAM, tmp_path))


@pytest.mark.parametrize("name", sorted({name for name, _ in WRITTEN}))
def test_an_example_that_the_site_does_not_run_shows_what_it_prints(name, tmp_path):
    (tmp_path / "tpcc.parquet").symlink_to(ROOT / "demo/tpcc-mariadb.parquet")
    examples = [example for other, example in WRITTEN if other == name]
    for example in examples:
        if "not-run" not in example:
            shown = console.shown_in(f"$ {example['command']}\n{example['output']}")[0]
            printed = console.run(example["command"], PROGRAM, tmp_path)
            compare(EXAMPLES, example["output"].strip("\n"), shown.written_again(printed))
    reasons = [example["not-run"] for example in examples if "not-run" in example]
    if reasons:
        pytest.skip(f"examples of {name}: {'; '.join(reasons)}")


def test_few_outputs_are_written_down():
    blocks = [(block.page.name, block.line, block.not_run()) for block in BLOCKS if block.not_run()]
    examples = [(name, example["not-run"]) for name, example in WRITTEN if "not-run" in example]
    assert len(blocks) + len(examples) <= NOT_RUN_AT_MOST, (blocks, examples)


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_an_output_stands_below_its_command(page):
    fences = {(match[1], match[3]) for match in console.FENCE.finditer(page.read_text(encoding="utf-8"))}
    assert {language for language, _ in fences} - {"console"} <= LANGUAGES
    assert [text for language, text in fences if language == "console" and not text.startswith("$ ")] == []


def test_a_block_shows_parts_of_an_output():
    text = "$ ftlab a \\\n    --b # not run: no\nhead 1\n\n[...]\n\nrows\nc 2\n\n[...]\n\nend 4\n"
    (shown,) = console.shown_in(text)
    assert (shown.command, shown.not_run) == ("ftlab a --b", "no")
    printed = "head 5\n\nother\n\nrows\nc 2\nd 3\n\nnote\n\nend 7"
    assert shown.written_again(printed) == "head 5\n\n[...]\n\nrows\nc 2\nd 3\n\n[...]\n\nend 7"
    assert console.folded("a " * 60 + "b").splitlines() == [("a " * 50).strip(), "a " * 10 + "b"]


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
