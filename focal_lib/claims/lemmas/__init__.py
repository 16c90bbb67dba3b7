"""Steps that several claims share, of one paper or of several."""
