"""How the page serves many visitors: each within limits of time, memory and disk."""
