"""Draws what a map on flash adds to write amplification, for docs/mapping.md, with four runs of two FTLs.

    python3 scripts/mapping_figure.py target/release/ftlab docs/figures/mapping.svg
"""

import json
import subprocess
import sys
from pathlib import Path

RUN = "run hotcold --logical 256MiB --op 15% --fill random --drive-writes 4 --ftl 1r-greedy --ftl 2r++ --json"
CACHES = ["16 KiB", "64 KiB", "256 KiB", "1 MiB"]
PARTS = {
    "the page itself": "#0072B2",
    "data moved": "#56B4E9",
    "translation pages written": "#D55E00",
    "translation pages moved": "#E69F00",
}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BASE = 960, 400, 60, 20, 60, 330


def bars(ftlab):
    """For each FTL and cache: parts of write amplification, and the share of writes whose entry was found."""
    found = {}
    for cache in CACHES:
        command = [ftlab, *RUN.split(), "--mapping", f"dftl:cache={cache.replace(' ', '')}"]
        output = subprocess.run(command, check=True, capture_output=True).stdout
        for run in json.loads(output)["runs"]:
            costs = run["map"]
            names = ["data_relocations_per_write", "writes_per_write", "relocations_per_write"]
            parts = [1.0, *(costs[name] for name in names)]
            found.setdefault(run["ftl"], []).append((cache, parts, costs["write_hit_share"]))
    return found


def text(x, y, words, size=12, anchor="middle"):
    return f'<text x="{x:g}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{words}</text>'


def drawing(found):
    most = max(sum(parts) for rows in found.values() for _, parts, _ in rows)
    unit = (BASE - TOP) / most
    yield (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif">'
    )
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#FFFFFF"/>'
    for tick in range(0, int(most) + 1, 2):
        y = BASE - unit * tick
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#DDDDDD"/>'
        yield text(LEFT - 8, y + 4, tick, anchor="end")
    yield text(LEFT, 24, "flash pages programmed per page of the host", 13, "start")
    for place, (part, colour) in enumerate(PARTS.items()):
        x, y = 430 + 260 * (place % 2), 12 + 18 * (place // 2)
        yield f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>'
        yield text(x + 18, y + 10, part, anchor="start")
    for number, (ftl, rows) in enumerate(found.items()):
        left = LEFT + 30 + 440 * number
        for column, (cache, parts, hits) in enumerate(rows):
            x, y = left + 100 * column, float(BASE)
            for part, colour in zip(parts, PARTS.values(), strict=True):
                y -= unit * part
                yield f'<rect x="{x}" y="{y:.1f}" width="70" height="{unit * part:.1f}" fill="{colour}"/>'
            yield text(x + 35, y - 6, f"{sum(parts):.2f}")
            yield text(x + 35, BASE + 16, cache)
            yield text(x + 35, BASE + 31, f"{hits:.1%} hits", 11)
        yield text(left + 185, BASE + 50, ftl, 14)
    yield "</svg>"


def main():
    ftlab, figure = sys.argv[1:]
    Path(figure).write_text("\n".join(drawing(bars(ftlab))) + "\n", encoding="utf-8")


main()
