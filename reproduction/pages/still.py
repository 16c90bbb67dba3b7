"""Pictures with sliders as a page holds them before a script moves them: SVG whose parts have names, and hidden inputs.

book/_static/explore.js shows the inputs and gives parts of the same names other paths. Where there is no script, in
JupyterLab say, the picture stays as it is: so colours and widths are attributes, which the book's style overrides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

WIDTH = 320  # of a picture, and of a small phone
_LEFT, _RIGHT = 34, 8
_KINDS = {
    "one": 'stroke="#0072B2" stroke-width="2.5"',
    "two": 'stroke="#D55E00" stroke-width="2.5" stroke-dasharray="7 4"',
    "gap": 'stroke="#D55E00" stroke-width="2.5"',
    "wide": 'stroke="#D55E00" stroke-width="5"',
    "three": 'stroke="currentColor" stroke-width="1.5" stroke-dasharray="2 3"',
    "thin": 'stroke="currentColor" stroke-width="1" stroke-opacity="0.5"',
    "dot": 'stroke="#0072B2" stroke-width="11" stroke-linecap="round"',
    "speck": 'stroke="currentColor" stroke-width="4" stroke-linecap="round"',
    "falls": 'stroke="#0072B2" stroke-width="8" stroke-linecap="round"',
    "rises": 'stroke="#D55E00" stroke-width="5" stroke-linecap="round"',
    "halo": 'stroke="currentColor" stroke-width="17" stroke-linecap="round" stroke-opacity="0.5"',
    "grip": 'stroke="#0072B2" stroke-width="40" stroke-linecap="round" stroke-opacity="0" role="slider" '
    'aria-label="q, by arrow keys" aria-valuemin="0" aria-valuemax="1" aria-valuenow="0"',
    "ring": 'stroke="#D55E00" stroke-width="11" stroke-linecap="round"',
    "mark": 'stroke="currentColor" stroke-width="7" stroke-linecap="round"',
}
_FILLED = {"bar": 'fill="#0072B2" fill-opacity="0.4"', "inner": 'fill="#D55E00"'}  # areas; the others are strokes


class Line(NamedTuple):
    """A path through points of the plane; two equal ones are a dot."""

    part: str
    kind: str  # one of _KINDS or _FILLED
    points: Sequence[tuple[float, float]]
    breaks: bool = False  # each pair of points is a line of its own


class Panel(NamedTuple):
    """Axes with lines in them: what is left of their range is cut off."""

    name: str
    span: tuple[float, float, float, float]  # left, right, bottom, top
    lines: Sequence[Line]
    x_label: str
    y_label: str
    x_ticks: Sequence[float] = ()
    y_ticks: Sequence[float] = ()
    height: int = 190
    legend: Sequence[tuple[str, str]] = ()  # kind, text
    legend_at: tuple[int, int] = (10, 16)
    texts: Sequence[tuple[float, float, str]] = ()  # each centred at its point
    share: tuple[float, float] = (0, 1)  # of the picture's width; one that begins after 0 stands beside the last


class Control(NamedTuple):
    """A number that a reader chooses: by a slider, by a box to tick, or in the picture."""

    name: str
    label: str
    value: float | bool
    limits: tuple[float, float, float] | None = None  # of a slider: lowest, highest, step


def _sides(panel: Panel) -> tuple[float, float]:
    """Left end and width of the panel's box."""
    left, right = (WIDTH * end for end in panel.share)
    return left + _LEFT, right - left - _LEFT - _RIGHT


def _place(panel: Panel, x: float, y: float) -> tuple[float, float]:
    """Where in the panel's box a point of the plane lies."""
    left, right, bottom, top = panel.span
    return (x - left) / (right - left) * _sides(panel)[1], (top - y) / (top - bottom) * panel.height


def _path(panel: Panel, line: Line) -> str:
    places = [f"{x:.1f} {y:.1f}" for x, y in (_place(panel, *point) for point in line.points)]
    pairs = [places[i : i + 2] for i in range(0, len(places), 2)] if line.breaks else [places]
    d = "".join("M" + "L".join(pair) for pair in pairs)
    return f'<path data-part="{line.part}" class="{line.kind}" {_look(line.kind)} d="{d}"/>'


def _look(kind: str) -> str:
    return _FILLED[kind] if kind in _FILLED else f'fill="none" {_KINDS[kind]}'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'


def _tick(value: float) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def _panel(panel: Panel, above: int) -> str:
    """Axes below this height of the picture; the lines in an SVG of their own, which cuts them off."""
    start, width = _sides(panel)
    box = f'x="{start:g}" y="{above}" width="{width:g}" height="{panel.height}"'
    span = " ".join(f"{value:g}" for value in panel.span)
    left, _, bottom, _ = panel.span
    marks = [
        _text(start + _place(panel, x, bottom)[0], above + panel.height + 15, _tick(x), "middle") for x in panel.x_ticks
    ]
    marks += [_text(start - 5, above + _place(panel, left, y)[1] + 4, _tick(y), "end") for y in panel.y_ticks]
    marks.append(_text(start + width, above + panel.height + 30, panel.x_label, "end") if panel.x_label else "")
    marks.append(_text(start - _LEFT + 2, above - 8, panel.y_label) if panel.y_label else "")
    frame = f'<rect {box} fill="none" stroke="currentColor" stroke-opacity="0.4"/>' if panel.x_ticks else ""
    inside = [_path(panel, line) for line in panel.lines]
    inside += [_text(*_place(panel, x, y), text, "middle") for x, y, text in panel.texts]
    for i, (kind, text) in enumerate(panel.legend):
        x, y = panel.legend_at[0], panel.legend_at[1] + 18 * i
        d = f"M{x} {y - 4}h24v8h-24z" if kind in _FILLED else f"M{x} {y}h24"
        inside.append(f'<path class="{kind}" {_look(kind)} d="{d}"/>' + _text(x + 30, y + 4, text))
    return (
        f"{frame}{''.join(marks)}"
        f'<svg {box} data-panel="{panel.name}" data-span="{span}" overflow="hidden">{"".join(inside)}</svg>'
    )


def _picture(panels: Sequence[Panel], description: str) -> str:
    drawn, above, height = [], 0, 0
    for panel in panels:
        if not panel.share[0]:
            above = height + (24 if panel.y_label else 4)
        drawn.append(_panel(panel, above))
        height = above + panel.height + (36 if panel.x_label else 18 if panel.x_ticks else 0) + 6
    return (
        f'<svg class="explore-picture" role="img" aria-label="{escape(description)}" width="480" '
        f'viewBox="0 0 {WIDTH} {height}" font-size="12" font-family="sans-serif">{"".join(drawn)}</svg>'
    )


def _control(control: Control) -> str:
    name, label, value = control.name, escape(control.label), control.value
    if control.limits is not None:
        low, high, step = control.limits
        limits = f'min="{low:g}" max="{high:g}" step="{step:g}" value="{value:g}"'
        return (
            f'<label>{label} = <span class="explore-value">{value:g}</span>'
            f'<input type="range" name="{name}" {limits}></label>'
        )
    if isinstance(value, bool):
        return f'<label><input type="checkbox" name="{name}"{" checked" * value}> {label}</label>'
    return f'<input type="hidden" name="{name}" value="{value:g}">'


def figure_of(
    name: str,
    panels: Sequence[Panel],
    controls: Sequence[Control],
    description: str,
    caption: str,
    task: str,
    data: Mapping[str, str] | None = None,
) -> str:
    """A figure as HTML.

    Args:
        name: what explore.js calls it.
        panels: from the top.
        controls: in their order; with no script they are hidden.
        description: of what the picture shows whatever the numbers are, for those who do not see it.
        caption: what is drawn, and at which values.
        task: what to try.
        data: what the script computes with besides the controls, by name.
    """
    inputs = "\n".join(_control(control) for control in controls)
    kept = "".join(f' data-{key}="{escape(value)}"' for key, value in (data or {}).items())
    return (
        f'<figure class="explore" data-explore="{name}"{kept}>\n{_picture(panels, description)}\n'
        f'<fieldset class="explore-controls" hidden>\n<p>Try it: {escape(task)}</p>\n{inputs}\n'
        '<p class="explore-says" aria-live="polite"></p>\n</fieldset>\n'
        f"<figcaption>{escape(caption)}</figcaption>\n</figure>"
    )
