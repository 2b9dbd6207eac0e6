"""Lines in panels that share their x axis, as SVG."""

import math
from html import escape
from pathlib import Path

# Colours that colour-blind readers can distinguish, also in print (Okabe and Ito, 2008): those of the FTLs in all
# figures and reports, and for other lines the rest.
COLOURS = {
    "1r-greedy": "#D55E00",
    "2r-fifo": "#0072B2",
    "2r++": "#009E73",
    "2r-greedy": "#56B4E9",
    "hazard": "#000000",
    "sepbit": "#CC79A7",
    "midas": "#E69F00",
}

WIDTH, PANEL, GAP = 960, 190, 22
LEFT, RIGHT, TOP, BOTTOM = 88, 24, 70, 46

Points = list[tuple[float, float]]


def ticks(most: float) -> list[float]:
    """About five round numbers from 0 to `most`."""
    power = 10 ** math.floor(math.log10(most / 5))
    step = next(power * factor for factor in [1, 2, 5, 10] if power * factor * 5.5 >= most)
    return [step * number for number in range(int(most / step) + 1)]


def text(x: float, y: float, label: str, anchor: str = "middle", more: str = "") -> str:
    """A label."""
    font = 'font-family="sans-serif" font-size="12"'
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" {font} {more}>{escape(label)}</text>'


def line(points: Points, colour: str, width: float, opacity: float = 1) -> str:
    """A line through pixels."""
    through = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    how = f'stroke="{colour}" stroke-width="{width}" opacity="{opacity}" stroke-linejoin="round"'
    return f'<polyline fill="none" {how} points="{through}"/>'


def colours(names: list[str]) -> list[str]:
    """A colour for each name, its own if it has one."""
    others = iter(colour for name, colour in COLOURS.items() if name not in names)
    return [COLOURS.get(name) or next(others, "#999999") for name in names]


def draw(
    path: Path, title: str, x_label: str, names: list[str], panels: dict[str, list[Points]]
) -> None:
    """Draws a panel for each label, which has a line for each name."""
    height = TOP + len(panels) * (PANEL + GAP) - GAP + BOTTOM
    parts = [
        f'<svg width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'xmlns="http://www.w3.org/2000/svg">',
        f'<rect width="{WIDTH}" height="{height}" fill="#FFFFFF"/>',
        text(WIDTH / 2, 24, title, more='font-weight="bold"'),
    ]
    # The legend is above the panels.
    for number, (name, colour) in enumerate(zip(names, colours(names), strict=True)):
        x = LEFT + number * (WIDTH - LEFT - RIGHT) / len(names)
        parts += [line([(x, 46), (x + 24, 46)], colour, 3), text(x + 30, 50, name, "start")]
    right = WIDTH - RIGHT
    all_points = [point for lines in panels.values() for points in lines for point in points]
    x_most = max((x for x, _ in all_points), default=1) or 1

    def across(x: float) -> float:
        return LEFT + (right - LEFT) * x / x_most

    for number, (label, lines) in enumerate(panels.items()):
        top = TOP + number * (PANEL + GAP)
        bottom = top + PANEL
        y_most = 1.05 * max((y for points in lines for _, y in points), default=1) or 1
        for tick in ticks(y_most):
            y = bottom - PANEL * tick / y_most
            parts += [
                line([(LEFT, y), (right, y)], "#000000", 1, 0.12),
                text(LEFT - 8, y + 4, f"{tick:,.10g}", "end"),
            ]
        middle = f'transform="rotate(270, 18, {top + PANEL / 2:.0f})"'
        parts.append(text(18, top + PANEL / 2, label, more=middle))
        parts.append(line([(LEFT, top), (LEFT, bottom), (right, bottom)], "#000000", 1))
        for points, colour in zip(lines, colours(names), strict=True):
            scaled = [(across(x), bottom - PANEL * y / y_most) for x, y in points]
            parts.append(line(scaled, colour, 2))
    for tick in ticks(x_most):
        parts.append(text(across(tick), height - BOTTOM + 18, f"{tick:,.10g}"))
    parts += [text((LEFT + right) / 2, height - 8, x_label), "</svg>"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(parts) + "\n")
