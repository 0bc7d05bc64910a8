"""Hugging Face models on this machine: loading, batches, and the store of what they computed."""
