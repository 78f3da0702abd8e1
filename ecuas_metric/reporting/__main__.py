"""`python -m ecuas_metric.reporting` is the command `ecuas`."""

import sys

from .cli import main

sys.exit(main())
