"""A calibrator on new scores: of every layout in memory, and of files larger than memory."""
