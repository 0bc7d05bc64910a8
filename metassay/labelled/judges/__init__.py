"""Judging the judges: tests whose items have a gold label, from raw files to the judge's card."""
