"""Systems that write a text from a source."""

from metassay.generation.generate import SYSTEMS, generate

__all__ = ["SYSTEMS", "generate"]
