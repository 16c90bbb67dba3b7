"""Figures of the book; one module a kind of picture. See `style` for the common look."""

from focal_lib.pages.plots.style import line_styles, use_style

__all__ = ["line_styles", "use_style"]
