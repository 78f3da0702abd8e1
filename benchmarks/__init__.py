"""How fast the metric is, as ratios measured in one run."""
