"""Post-hoc calibrators with scikit-learn's conventions: fit(logits, labels), predict_proba(logits)."""
