"""Every metric's value for every author."""

from metassay.tables.columns import contracts

(LEADERBOARD,) = contracts(__file__)
