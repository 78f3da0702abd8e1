"""Recalibration of posteriors and confidences, fitted on other data or by cross-validation."""
