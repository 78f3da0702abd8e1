"""Plug-ins for tools that evaluate models; `ecuas_metric.files.runs` reads what these tools save.

Each module imports its tool when it is imported itself, and nothing here is imported by `import ecuas_metric`.
"""
