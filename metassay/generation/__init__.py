"""Systems that write a text from a source."""

from metassay.generation.systems import SYSTEMS, write_texts

__all__ = ["SYSTEMS", "write_texts"]
