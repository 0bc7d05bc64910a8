"""Training of checkpoints for faithfulness metrics, on statements and their aligned passages."""
