"""What language models were asked and answered."""

from metassay.tables.columns import contracts

(RESPONSES,) = contracts(__file__)
