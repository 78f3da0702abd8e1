"""The demo, and the paper reproduced."""
