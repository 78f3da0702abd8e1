"""Tasks of Inspect that ask a language model for answers and confidences; see docs/elicitation.md."""
