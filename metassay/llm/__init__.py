"""Calling language models: safe, cheap, replayable."""
