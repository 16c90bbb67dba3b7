"""Text classifiers as M20 and L25 train them: both weights that a paper could keep, and texts from elsewhere."""
