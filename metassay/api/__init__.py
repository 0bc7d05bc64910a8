"""What users import: metrics tested against people, from two tables alone."""
