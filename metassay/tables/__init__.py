"""The contracts: every table's key, columns, types, nullability and meaning.

Import a contract from the module that holds it; one that a single analysis makes stands with it in
`meta_evaluation`, and `reporting.contract_page` has all by name. Nothing is imported here, so that
a stage depends on the contracts of its own tables: a new column of another one does not make it
stale.
"""
