"""Draws what drives of the atlas wrote, and what their models write.

    python3 scripts/atlas_figure.py drives docs/figures/atlas.svg

A row for each `[[series]]` of a file: measured, fitted, and predicted by a fit of other series. `error` is what a measured
number may be off by, as a share of WAF - 1.
"""

import sys
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, ROW, GAP = 760, 360, 24, 56, 18, 14
MEASURED, FITTED, PREDICTED = "#222222", "#0072B2", "#D55E00"


def drives(directory):
    """Title and series of each drive that has some."""
    for file in sorted(directory.glob("*.toml")):
        drive = tomllib.loads(file.read_text(encoding="utf-8"))
        if drive.get("series"):
            yield drive["title"], drive["series"]


def drawing(atlas):
    numbers = [
        series[key]
        for _, rows in atlas
        for series in rows
        for key in series
        if key in ("measured", "fitted", "predicted")
    ]
    most = max(numbers) + 0.3
    rows = sum(len(series) for _, series in atlas)
    height = TOP + rows * ROW + len(atlas) * (ROW + GAP) + 40

    def x(waf):
        return LEFT + (WIDTH - LEFT - RIGHT) * (waf - 1) / (most - 1)

    yield (
        f'<svg width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12">'
    )
    yield f'<rect width="{WIDTH}" height="{height}" fill="#FFFFFF"/>'
    yield f'<rect x="16" y="16" width="24" height="12" fill="#D8D8D8"/><path d="M28 14v16" stroke="{MEASURED}" stroke-width="2"/>'
    yield '<text x="48" y="27">measured (grey: error, if by pace)</text>'
    yield f'<circle cx="290" cy="22" r="4" fill="{FITTED}"/><text x="302" y="27">fitted</text>'
    yield f'<circle cx="370" cy="22" r="5" fill="none" stroke="{PREDICTED}" stroke-width="2"/>'
    yield '<text x="382" y="27">predicted by other series of the drive</text>'
    bottom = height - 36
    for waf in range(1, int(most) + 1):
        yield f'<path d="M{x(waf):.1f} {TOP - 8}V{bottom}" stroke="#E4E4E4"/>'
        yield f'<text x="{x(waf):.1f}" y="{bottom + 16}" text-anchor="middle">{waf}</text>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{height - 4}" text-anchor="middle">write amplification; by pace without what is written beside</text>'
    y = TOP
    for title, series in atlas:
        yield f'<text x="16" y="{y + 12}" font-weight="bold">{escape(title)}</text>'
        y += ROW
        for own in series:
            yield f'<text x="{LEFT - 12}" y="{y + 12}" text-anchor="end">{escape(own["name"])}</text>'
            middle, measured = y + 8, own["measured"]
            if error := own.get("error"):
                from_, to = (x(1 + (measured - 1) * (1 + sign * error)) for sign in (-1, 1))
                yield f'<rect x="{from_:.1f}" y="{middle - 6}" width="{to - from_:.1f}" height="12" fill="#D8D8D8"/>'
            yield f'<path d="M{x(measured):.1f} {middle - 8}v16" stroke="{MEASURED}" stroke-width="2"/>'
            if fitted := own.get("fitted"):
                yield f'<circle cx="{x(fitted):.1f}" cy="{middle}" r="4" fill="{FITTED}"/>'
            if predicted := own.get("predicted"):
                ring = f'fill="none" stroke="{PREDICTED}" stroke-width="2"'
                yield f'<circle cx="{x(predicted):.1f}" cy="{middle}" r="5" {ring}/>'
            y += ROW
        y += GAP
    yield "</svg>"


def main():
    directory, figure = map(Path, sys.argv[1:])
    figure.write_text("\n".join(drawing(list(drives(directory)))) + "\n", encoding="utf-8")


main()
