"""How cells are drawn, one form per module: a function of a record and its cells."""
