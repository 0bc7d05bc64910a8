"""Training of models for metrics, on statements and their passages, or on texts and references."""
