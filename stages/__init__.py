"""One doorway per stage: parse params, read tables, call one library function, write."""
