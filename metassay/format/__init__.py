"""Numbers, names and tables for readers."""
