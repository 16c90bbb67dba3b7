"""Models of a few weights on made-up data, whose true probabilities are known (M20 App. G, L25 App. A.11)."""
