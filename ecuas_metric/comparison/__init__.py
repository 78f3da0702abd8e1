"""Systems compared: pairs, permutation tests, sets of best systems, planning, bounds for unlabelled answers."""
