"""Scheduled re-evaluation: a benchmark's numbers beside the accepted ones, and their history."""
