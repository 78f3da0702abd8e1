"""Past one machine: a state of some rows that merges with others in any order, and the engines that carry it.

`state.state_of` makes the state of one part of the data, `state.merge` puts states together to the same bytes whatever
the parts and their order, `packing` turns them into bytes and back, and `reading.read` gives the metrics.
"""
