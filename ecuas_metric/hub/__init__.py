"""Ways to the Hugging Face Hub and to common formats of results, each by the libraries' own classes."""
