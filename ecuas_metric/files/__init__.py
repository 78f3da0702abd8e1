"""A path -> a table -> systems: what files hold, and which column has which role."""
