"""Calibration of a model in use: a test that may be looked at after every prediction."""
