"""The demo Space: the metric and the curated TriviaQA subset in a web page."""
