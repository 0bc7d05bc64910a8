"""Measures as data: what is asked, of whose units, against what evidence, and how it is scored."""
