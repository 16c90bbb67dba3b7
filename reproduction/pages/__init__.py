"""What makes a page of the book: its figures, its foot, and the way it is run."""
