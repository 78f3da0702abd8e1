"""Short for `python -m publishing`: publish the metric, the dataset and the demo, or register `ecuas` here."""

import sys

if __name__ == "__main__":
    try:
        from publishing.__main__ import main
    except KeyboardInterrupt:  # while libraries are imported: there is nothing to say yet
        sys.exit(130)
    sys.exit(main())
