"""The contracts: each table's key, columns, types, nullability and meaning.

Import a contract from its module. Tables of a single analysis are in `meta_evaluation`,
and `reporting.contract_page` has all by name. This module imports nothing, so that a
stage depends only on the contracts of its tables: a new column of another table does
not make it stale.
"""
