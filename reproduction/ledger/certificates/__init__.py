"""Signs proved by Arb ball arithmetic: formulas and boxes written and found by one module, checked by another."""
