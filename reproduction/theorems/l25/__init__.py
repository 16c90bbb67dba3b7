"""Liang et al.: the focal calibration loss (L25)."""
