"""`metassay meta-eval SCORES RATINGS`: metrics tested against people, from two files alone."""
