"""Rubrics as data: what is asked of a text, on which scale or up to which cap; a file each."""
