"""Tables that compare metrics with people, one module per analysis."""
