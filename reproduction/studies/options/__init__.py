"""A language model that answers questions with lists of options."""
