"""The smallest network: one logit, which learns a coin."""
