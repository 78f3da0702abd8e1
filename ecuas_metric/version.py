"""The version, which nothing large is imported for."""

VERSION = "0.5.0"
