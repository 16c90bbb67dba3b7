"""Figures of the book; one module a kind of picture. See `style` for the common look."""

from focal_lib.plots.style import curve_styles, use_style

__all__ = ["curve_styles", "use_style"]
