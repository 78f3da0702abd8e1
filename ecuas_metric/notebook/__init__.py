"""Results -> what a notebook shows of them: HTML without script, and figures."""
