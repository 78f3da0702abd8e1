"""Systems compared: pairs, differences, sets of best systems, planning, bounds for unlabelled answers."""
