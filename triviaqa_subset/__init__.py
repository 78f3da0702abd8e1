"""The curated TriviaQA subset: its build, its grading, and the running of language models on it."""
