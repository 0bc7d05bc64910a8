"""Pure functions over arrays: NaN is missing, generators are passed in, no project code."""
