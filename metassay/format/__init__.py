"""Numbers, names and tables as people read them."""
