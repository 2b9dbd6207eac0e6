"""Blocks of the manual that show a command and what it prints: found, run, compared and written again.

A block is fenced as `console`. A line that begins with `$ ` is a command, which continues while lines end with
a backslash; the lines below it are what it prints. `[...]` stands for paragraphs that are left out. A command
that ends with `# not run: REASON` is shown with an output that was written down. A block whose fence names a
file, as in `ini mixed.fio`, is that file. Commands run in a directory that has these files of their page, and
the folder `demo`.
"""

import os
import re
import subprocess
import textwrap
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

DEMO = Path(__file__).parents[2] / "demo"

# What a command takes as the width of its terminal; sentences that are longer are folded.
COLUMNS = 100
LEFT_OUT = "[...]"
NOT_RUN = re.compile(r"\s+# not run: (.+)$")
FENCE = re.compile(r"^```(\S*)[ \t]*(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What a shell says of a program whose reader, such as head, has seen enough.
BROKEN_PIPE = 141


@dataclass(frozen=True)
class Shown:
    """A command of a block, with what the block shows of its output."""

    # Its lines, as they are typed.
    typed: str
    command: str
    output: str
    not_run: str | None = None

    def written_again(self, printed):
        """What the block shows of these lines: the same paragraphs of them."""
        found = paragraphs(printed)
        parts = [paragraphs(part) for part in self.output.split(LEFT_OUT)]
        texts, begin = [], 0
        for number, part in enumerate(parts):
            if number + 1 == len(parts):
                begin = max(begin, len(found) - len(part)) if number else 0
                end = len(found)
            else:
                begin = begin if number == 0 else nearest(part, found, begin)
                end = begin + len(part)
            texts.append("\n\n".join(found[begin:end]))
            begin = end
        return f"\n\n{LEFT_OUT}\n\n".join(texts).strip("\n")


def paragraphs(text):
    return [part.strip("\n") for part in re.split(r"\n\n+", text) if part.strip("\n")]


def nearest(part, found, begin):
    """Where the paragraphs are that are most like these, but for their numbers."""

    def likeness(at):
        pairs = zip(part, found[at:], strict=False)
        return sum(SequenceMatcher(None, plain(a), plain(b), autojunk=False).ratio() for a, b in pairs)

    return max(range(begin, max(len(found) - len(part), begin) + 1), key=likeness)


def plain(text):
    return re.sub(r"[\d.,]+", "0", text)


@dataclass(frozen=True)
class Block:
    """A block of a page: its commands, and the files that they read."""

    page: Path
    line: int
    text: str
    shown: tuple[Shown, ...]
    files: tuple[tuple[str, str], ...]

    def not_run(self):
        """Why some command of it is not run, if one is not."""
        return next((shown.not_run for shown in self.shown if shown.not_run), None)

    def run(self, ftlab, place):
        """The text of the block as its commands print it now."""
        (place / "demo").symlink_to(DEMO)
        for name, content in self.files:
            (place / name).write_text(content, encoding="utf-8")
        outputs = [shown.written_again(folded(run(shown.command, ftlab, place))) for shown in self.shown]
        steps = zip(self.shown, outputs, strict=True)
        return "\n".join(f"$ {shown.typed}\n{output}\n" for shown, output in steps)


def blocks_of(page):
    """All blocks of a page, with the files that the page gives in other blocks."""
    text = page.read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    files = tuple((fence[2], fence[3]) for fence in fences if fence[2])
    for fence in fences:
        if fence[1] == "console":
            line = text.count("\n", 0, fence.start()) + 1
            yield Block(page, line, fence[3], shown_in(fence[3]), files)


def shown_in(text):
    """The commands of the text of a block."""
    found = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        length = next(number for number, line in enumerate(lines) if not line.endswith("\\")) + 1
        typed = "\n".join(lines[:length])
        command = " ".join(line.rstrip("\\").strip() for line in lines[:length])
        reason = NOT_RUN.search(command)
        output = "\n".join(line.rstrip() for line in lines[length:]).strip("\n")
        found.append(Shown(typed, NOT_RUN.sub("", command), output, reason[1] if reason else None))
    return tuple(found)


def run(command, ftlab, place):
    """What a command prints, as a terminal shows it; raises RuntimeError with that if it fails."""
    environment = os.environ | {
        "PATH": f"{Path(ftlab).parent}:{os.environ['PATH']}",
        "COLUMNS": str(COLUMNS),
    }
    shell = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(
        shell, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode not in (0, BROKEN_PIPE):
        raise RuntimeError(f"{command}: {done.stdout}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def folded(printed):
    """An output whose sentences are as wide as a page; tables and drawings stay as they are."""
    return "\n".join(line for whole in printed.splitlines() for line in fold(whole))


def fold(line):
    if len(line) <= COLUMNS or "  " in line.strip() or "─" in line:
        return [line]
    indent = "  " if line.startswith("- ") else ""
    return textwrap.wrap(
        line, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
