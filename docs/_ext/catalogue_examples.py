"""The examples on the pages of commands, run when the site is built."""

import json
import shutil
import tempfile
import textwrap
import tomllib
from pathlib import Path

from console import run
from sphinx.errors import ExtensionError

DOCS = Path(__file__).parent.parent
EXAMPLES = Path(__file__).parent / "examples.toml"
SWEEP = Path(__file__).parent / "op.toml"
TRACE = DOCS.parent / "demo" / "tpcc-mariadb.parquet"

# A page has no fewer.
LEAST = 2


def example_pages(ftlab, commands, generated, version):
    """The Markdown of the examples of each command; they run again when they or the package have changed."""
    examples = tomllib.loads(EXAMPLES.read_text())
    missing = [command for command in commands if len(examples.get(command, [])) < LEAST]
    unknown = set(examples) - set(commands)
    if missing or unknown:
        raise ExtensionError(
            f"{EXAMPLES.name}: fewer than {LEAST} examples of {', '.join(missing) or 'none'}; "
            f"no such command: {', '.join(sorted(unknown)) or 'none'}"
        )
    kept = generated / "figures" / "examples.json"
    key = [version, examples, SWEEP.read_text()]
    if kept.exists():
        found = json.loads(kept.read_text())
        if found["key"] == key:
            return found["pages"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "tpcc.parquet").symlink_to(TRACE)
        shutil.copy(SWEEP, place)
        pages = {name: examples_of(name, list_, ftlab, place, generated) for name, list_ in examples.items()}
    kept.write_text(json.dumps({"key": key, "pages": pages}))
    return pages


def examples_of(name, examples, ftlab, place, generated):
    parts = []
    for number, example in enumerate(examples):
        output = example.get("output")
        if output is None:
            output = printed(example["command"], ftlab, place)
        text = f"$ {lines_of(example['command'])}\n{output}".rstrip()
        parts += [example["says"], f"```console\n{text}\n```"]
        if "figure" in example:
            figure = generated / "figures" / f"command-{name}-{number}.svg"
            shutil.copy(place / example["figure"], figure)
            parts.append(f"![{example['shows']}](../figures/{figure.name})")
    return "\n\n".join(parts)


def lines_of(command):
    """A command in lines that fit on a page, as a shell takes them."""
    return " \\\n    ".join(textwrap.wrap(command, 88, break_long_words=False, break_on_hyphens=False))


def printed(command, ftlab, place):
    try:
        return run(command, ftlab, place)
    except RuntimeError as error:
        raise ExtensionError(str(error)) from error
