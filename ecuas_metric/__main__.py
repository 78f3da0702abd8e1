"""`python -m ecuas_metric` is the command `ecuas`."""

import sys

from .reporting.cli import main

sys.exit(main())
