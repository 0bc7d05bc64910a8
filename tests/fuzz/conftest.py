"""Mutated input of every kind. A few of each run with the other tests, and thousands on request:

METASSAY_FUZZ=1000 python -m pytest tests/fuzz

The examples are the same each time: what fails once fails again, and is then kept as a
case.
"""

from hypothesis import settings

from tests.fuzz.rule import EXAMPLES, examples

settings.register_profile("fuzz", examples(EXAMPLES))


def pytest_configure(config):
    settings.load_profile("fuzz")
