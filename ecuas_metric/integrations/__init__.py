"""The tools in whose runs the numbers lie: `runs` reads what they leave; the other modules plug into them.

Each module imports its tool when it is imported itself, and nothing here is imported by `import ecuas_metric`.
"""
