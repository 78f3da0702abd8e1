"""Plug-ins for tools that evaluate models, none of which `import ecuas_metric` needs; `files.runs` reads their runs."""
