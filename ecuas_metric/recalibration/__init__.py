"""Recalibration of posteriors and confidences, fitted on other data or by cross-validation."""

METHODS = ("affine", "temperature", "isotonic")
FOLDS = 5  # as in the paper's table
