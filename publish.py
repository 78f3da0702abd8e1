"""Short for `python -m publishing`: publish the metric, the dataset and the demo, or register `ecuas` here."""

import sys

from publishing.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
