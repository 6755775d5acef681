"""Draws lines as SVG, with nothing but the standard library."""
import math
from html import escape

COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#8a6d3b", "#444444"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 640, 300, 80, 40, 70


def ticks(low, high):
    """Powers of ten and, where they are few, their halves."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1,) if last - first > 3 else (1, 2, 5)
    made = [step * 10.0 ** power for power in range(first, last + 1) for step in steps]
    return [value for value in made if low <= value <= high]


def short(value):
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


class Panel:
    """One diagram with logarithmic axes: {name of a line: [(x, y), ...]}."""

    def __init__(self, title, lines, top):
        self.title, self.lines, self.top = title, lines, top
        points = [point for line in lines.values() for point in line]
        self.xs = (min(x for x, _ in points), max(x for x, _ in points))
        self.ys = (min(y for _, y in points) / 1.3, max(y for _, y in points) * 1.3)

    def place(self, x, y):
        def part(value, ends):
            spread = math.log(ends[1] / ends[0]) or 1
            return math.log(value / ends[0]) / spread
        return (LEFT + part(x, self.xs) * WIDTH, self.top + (1 - part(y, self.ys)) * HEIGHT)

    def draw(self):
        out = [f'<text x="{LEFT}" y="{self.top - 12}" class="title">{escape(self.title)}</text>']
        for value in ticks(*self.ys):
            _, y = self.place(self.xs[0], value)
            out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" class="grid"/>'
                       f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{short(value)}</text>')
        for value in sorted({x for line in self.lines.values() for x, _ in line}):
            x, y = self.place(value, self.ys[0])
            out.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{short(value)}</text>')
        for i, (name, line) in enumerate(self.lines.items()):
            colour = COLOURS[i % len(COLOURS)]
            places = [self.place(*point) for point in line]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
            y = self.top + 14 + 18 * i
            out.append(f'<rect x="{LEFT + WIDTH + 14}" y="{y - 9}" width="10" height="10" '
                       f'fill="{colour}"/><text x="{LEFT + WIDTH + 30}" y="{y}">{escape(name)}</text>')
        return out


def svg(panels, below):
    """The whole picture; panels are (title, lines)."""
    drawn = [Panel(title, lines, TOP + i * (HEIGHT + GAP)) for i, (title, lines) in enumerate(panels)]
    height = TOP + len(panels) * (HEIGHT + GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 190}" height="{height}">',
             "<style>text{font:12px sans-serif;fill:#333}.title{font-weight:bold}"
             ".grid{stroke:#ddd}</style>", '<rect width="100%" height="100%" fill="white"/>']
    for panel in drawn:
        parts += panel.draw()
    parts.append(f'<text x="{LEFT}" y="{height - 12}">{escape(below)}</text></svg>')
    return "\n".join(parts) + "\n"
