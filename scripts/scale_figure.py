"""Draws how far scaled-down drives are off, from a table of docs/notes/real-drives.md.

    python3 scripts/scale_figure.py docs/notes/real-drives.md docs/figures/scale.svg

The table has a row for each FTL and way of simulating, and a column for each scale.
"""

import re
import sys
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 420, 64, 24, 72, 52
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]


def table(page):
    """The scales, and for each row its FTL, how it was simulated and the numbers."""
    found = re.search(r"^\| FTL \| simulated on \|(.*)\n\|[-:| ]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    scales = [cell.strip() for cell in found[1].strip().strip("|").split("|")]
    rows = []
    for line in found[2].splitlines():
        ftl, how, *cells = (cell.strip(" `") for cell in line.strip("|").split("|"))
        rows.append((ftl, how, [float(cell.rstrip("%")) for cell in cells]))
    return scales, rows


def drawing(scales, rows):
    values = [value for _, _, numbers in rows for value in numbers] + [0.0]
    least, most = min(values) - 1, max(values) + 1
    ftls = list(dict.fromkeys(ftl for ftl, _, _ in rows))

    def x(index):
        return LEFT + (WIDTH - LEFT - RIGHT) * (index + 0.5) / len(scales)

    def y(value):
        return TOP + (HEIGHT - TOP - BOTTOM) * (most - value) / (most - least)

    yield (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12">'
    )
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#FFFFFF"/>'
    for index, ftl in enumerate(ftls):
        left = LEFT + 160 * index
        yield f'<rect x="{left}" y="14" width="12" height="12" fill="{COLOURS[index]}"/>'
        yield f'<text x="{left + 18}" y="24">{ftl}</text>'
    yield f'<text x="{LEFT}" y="48">dashed: on one drive; solid: from two sizes</text>'
    step = 5 if most - least > 12 else 1
    for value in range(round(least / step) * step, round(most) + 1, step):
        if least <= value <= most:
            shade = "#888888" if value == 0 else "#E4E4E4"
            yield f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="{shade}"/>'
            yield f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value}%</text>'
    for index, scale in enumerate(scales):
        yield f'<text x="{x(index):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{scale}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    label = "size of the simulated drive, as a share of the real one; off, in % of WAF - 1"
    yield f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{label}</text>'
    for ftl, how, numbers in rows:
        points = " ".join(f"{x(index):.1f},{y(value):.1f}" for index, value in enumerate(numbers))
        dash = "" if how == "two sizes" else ' stroke-dasharray="5 4"'
        colour = COLOURS[ftls.index(ftl)]
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    yield "</svg>"


def main():
    page, figure = map(Path, sys.argv[1:])
    scales, rows = table(page.read_text(encoding="utf-8"))
    figure.write_text("\n".join(drawing(scales, rows)) + "\n", encoding="utf-8")


main()
