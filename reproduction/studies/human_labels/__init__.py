"""Classifiers of sentences whose labels come from several raters: targets, a linear model, networks, contrasts."""
