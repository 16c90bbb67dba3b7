"""What files and calls may hold, brought into one form: sets of logits (n, K) with labels (n,)."""
