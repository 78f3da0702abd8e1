"""Recalibration of posteriors and confidences, fitted on other data or by cross-validation.

What is fitted is a small named tuple of numbers; `fit_*` makes it, `apply_*` uses it on any data. As scikit-learn's
``fit(X, y)``, the functions take the scores before the truth.
"""
