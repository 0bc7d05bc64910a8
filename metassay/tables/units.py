"""Units of texts: claims and statements."""

from metassay.tables.columns import contracts

(UNITS,) = contracts(__file__)
