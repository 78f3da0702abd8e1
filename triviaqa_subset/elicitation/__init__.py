"""Tasks of Inspect that ask a language model, with our definitions of answer and confidence: see docs/elicitation.md."""
