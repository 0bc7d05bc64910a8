"""Systems that write a text from a source."""

from metassay.generation.systems import SYSTEMS, check_reads, write_texts

__all__ = ["SYSTEMS", "check_reads", "write_texts"]
