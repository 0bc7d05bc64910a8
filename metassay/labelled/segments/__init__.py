"""Testing segmentations: texts whose sentences have a gold label, from raw files to scores."""
