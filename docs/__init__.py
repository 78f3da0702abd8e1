"""The reference page and the script that writes it."""
