"""A folder for `lm_eval --include_path`: a template of tasks with ECUAS_n, to be copied."""
