"""Figures of the book; one module a kind of picture. See `style` for the common look."""
