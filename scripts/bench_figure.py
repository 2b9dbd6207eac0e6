"""Draws the first table of docs/benchmarks.md: nanoseconds per flash page program, a bar for each FTL.

    python3 scripts/bench_figure.py docs/benchmarks.md docs/figures/bench.svg
"""

import re
import sys
from pathlib import Path

WIDTH, LEFT, TOP, STEP = 640, 110, 44, 26


def rows(page):
    """Name and nanoseconds of each row of the first table, under zipf."""
    table = re.search(r"^\| FTL \|.*\n\|[-:| ]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    for line in table[1].splitlines():
        name, _, ns, *_ = (cell.strip(" `") for cell in line.strip("|").split("|"))
        yield name, float(ns)


def drawing(bars):
    height = TOP + STEP * len(bars) + 12
    scale = (WIDTH - LEFT - 60) / max(ns for _, ns in bars)
    yield (
        f'<svg width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12">'
    )
    yield f'<rect width="{WIDTH}" height="{height}" fill="#FFFFFF"/>'
    yield '<text x="12" y="24">Nanoseconds per flash page program: 8 GiB, zipf 0.9, one core</text>'
    for index, (name, ns) in enumerate(bars):
        top = TOP + STEP * index
        fill = "#999999" if name == "plain loop" else "#56B4E9"
        yield f'<text x="{LEFT - 8}" y="{top + 14}" text-anchor="end">{name}</text>'
        yield f'<rect x="{LEFT}" y="{top}" width="{ns * scale:.0f}" height="18" fill="{fill}"/>'
        yield f'<text x="{LEFT + ns * scale + 6:.0f}" y="{top + 14}">{ns:.1f}</text>'
    yield "</svg>"


def main():
    page, figure = map(Path, sys.argv[1:])
    bars = sorted(rows(page.read_text(encoding="utf-8")), key=lambda bar: bar[1])
    figure.write_text("\n".join(drawing(bars)) + "\n", encoding="utf-8")


main()
