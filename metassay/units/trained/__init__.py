"""Sentence roles by models that a stage trains: features, the models' file, and training."""
