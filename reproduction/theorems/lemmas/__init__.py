"""Steps and proofs that several claims share, of one paper or of several; claims import these, never each other."""
