"""Pure functions over arrays: NaN is missing, generators are passed in, no project code.

Public: each function's docstring has its shapes, its missing values and its source. The
commonest have defaults as `metassay.correlate`, `metassay.permutation_test` and
`metassay.agreement`.
"""
