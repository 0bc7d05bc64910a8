"""Concepts that texts name: linkers, and vectors of concepts."""
