"""From the folders of the project to the Hugging Face Hub, and to Evaluate's cache on this machine."""
