"""From texts to scores: measures, pairs, rubrics, aggregation."""
