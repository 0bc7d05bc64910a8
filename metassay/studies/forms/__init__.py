"""One module per form of study."""
