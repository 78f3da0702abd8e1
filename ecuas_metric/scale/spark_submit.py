"""`ecuas score --out-of-core --engine spark` as a file for spark-submit, with the arguments of that command."""

import sys

from ecuas_metric.reporting.cli import main

if __name__ == "__main__":
    sys.exit(main(["score", *sys.argv[1:], "--out-of-core", "--engine", "spark"]))
