"""Notebooks as files of Jupyter, to download: the cells of the text, without outputs."""

import re
from pathlib import Path

import nbformat
import yaml
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor

DOCS = Path(__file__).parent.parent
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
FRONT = re.compile(r"\A---\n(.*?)^---\n", re.MULTILINE | re.DOTALL)


def sources():
    return [path for path in sorted((DOCS / "notebooks").glob("*.md")) if path.stem != "index"]


def write_notebooks(generated):
    """Writes a file of Jupyter for each notebook."""
    folder = generated / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sources():
        text = nbformat.writes(notebook(path.read_text())) + "\n"
        target = folder / f"{path.stem}.ipynb"
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def run_notebooks(cache_path, timeout):
    """Runs notebooks that have changed, on all processors; the site takes their outputs from the cache.

    One that fails is not in the cache: the site runs it again, and reports why.
    """
    cache = get_cache(cache_path)
    for path in sources():
        cache.add_nb_to_project(str(path), read_data={"name": "myst_nb_md", "type": "plugin"})
    load_executor("local-parallel", cache).run_and_cache(timeout=timeout)


def notebook(text):
    """The notebook of a text: code cells, and what is between them; cells of tests are left out."""
    front = FRONT.match(text)
    cells = []
    for number, part in enumerate(CELL.split(text[front.end() :])):
        if number % 2 == 0:
            if part.strip():
                cells.append(nbformat.v4.new_markdown_cell(part.strip()))
        elif "remove-cell" not in (options := cell_options(part))[0].get("tags", []):
            cells.append(nbformat.v4.new_code_cell(options[1].strip()))
    for index, cell in enumerate(cells):
        cell["id"] = f"cell-{index}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def cell_options(part):
    """The options of a cell, and its code: options are lines `:key: value`, or YAML between dashes."""
    front = FRONT.match(part)
    if front:
        return yaml.safe_load(front[1]), part[front.end() :]
    lines = part.splitlines()
    end = next((n for n, line in enumerate(lines) if not re.match(r":[\w-]+:", line)), len(lines))
    options = dict(re.match(r":([\w-]+):\s*(.*)", line).groups() for line in lines[:end])
    return {key: yaml.safe_load(value) for key, value in options.items()}, "\n".join(lines[end:])


def add_download(app, docname, source):
    """Adds a link to the file below the title of a notebook."""
    folder, _, name = docname.rpartition("/")
    if folder == "notebooks" and name != "index":
        link = f"{{download}}`Download as a notebook (.ipynb) </generated/notebooks/{name}.ipynb>`"
        source[0] = re.sub(
            r"^# .*$", lambda title: f"{title[0]}\n\n{link}", source[0], count=1, flags=re.MULTILINE
        )
