"""Mukhoti et al.: focal loss as a calibrating loss (M20)."""
