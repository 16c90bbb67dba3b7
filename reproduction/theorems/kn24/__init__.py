"""Kimura and Naganuma: focal loss and curvature (KN24)."""
