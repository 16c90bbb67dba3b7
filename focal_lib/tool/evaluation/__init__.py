"""Methods compared on samples that they have not seen: scores, differences, slices, advice, what looks wrong."""
