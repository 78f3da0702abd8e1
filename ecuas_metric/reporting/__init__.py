"""Files of systems -> submissions -> a report -> grids and files: the command `ecuas` and what it is made of."""
