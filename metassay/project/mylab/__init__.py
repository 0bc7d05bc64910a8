"""Metrics, judges and readers of this project; params.yaml names them by their dotted path."""
