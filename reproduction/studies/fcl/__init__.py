"""Networks with the focal calibration loss (L25 section 5.5): a map over gamma and lambda, and known truths."""
