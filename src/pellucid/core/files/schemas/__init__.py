"""One file of schemas per family: the entries of the closed registry."""
