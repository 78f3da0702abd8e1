"""Four classifiers on scikit-learn's bundled digits, as they are and calibrated, and the usual metrics of them."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecuas_metric import (
    apply_affine,
    cross_validated,
    fit_affine,
    make_report,
    posterior_system,
)
from ecuas_metric.plotting.figures import (
    reject_cost_figure,
    reliability_figure,
    risk_coverage_figure,
    save,
)

Floats = NDArray[np.float64]
Systems = dict[str, Floats]  # posteriors (N, K) by name
CLASSIFIERS = {
    "Gaussian naive Bayes": GaussianNB(),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "random forest": RandomForestClassifier(random_state=0),
    "shallow forest": RandomForestClassifier(max_depth=4, random_state=0),
}
FLOOR = 1e-12  # a class that no tree votes for has probability 0, and no logarithm to calibrate


def main(argv: Sequence[str] | None = None) -> None:
    """Fit, calibrate, score, print, write, draw."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), help="where files and figures go (default: demo)"
    )
    out = parser.parse_args(argv).out
    raw, labels = fit()
    outputs = {**raw, **calibrated(raw, labels)}
    systems = {name: posterior_system(labels, posteriors) for name, posteriors in outputs.items()}
    print(f"Handwritten digits, {len(labels)} test samples, 10 classes.\n")
    print(f"{make_report(systems)}\n")
    paths = [
        write_posteriors(name, posteriors, labels, out) for name, posteriors in outputs.items()
    ]
    print(*(path.as_posix() for path in paths), sep="\n")
    for name, figure in {
        "risk_coverage": risk_coverage_figure({name: systems[name] for name in raw}),
        "reject_cost": reject_cost_figure(systems),
        "reliability": reliability_figure(systems),
    }.items():
        print(*(path.as_posix() for path in save(figure, out / name)))
    print(f"\n{next_steps(paths)}")


def fit() -> tuple[Systems, NDArray[np.int64]]:
    """Fit the classifiers on one half of the digits; return their posteriors of the other half, and its labels."""
    images, digits = load_digits(return_X_y=True)
    train, test, train_labels, labels = train_test_split(
        images,
        digits,
        test_size=0.5,
        random_state=0,
        stratify=digits,
    )
    return {
        name: model.fit(train, train_labels).predict_proba(test)
        for name, model in CLASSIFIERS.items()
    }, labels


def calibrated(outputs: Systems, labels: NDArray[np.int64]) -> Systems:
    """Return the posteriors of each system after an affine recalibration, fitted on the other folds."""
    recalibrated = {}
    for name, posteriors in outputs.items():
        logs = np.log(np.maximum(posteriors, FLOOR))
        logs = cross_validated(fit_affine, apply_affine, logs, labels)
        recalibrated[f"{name}, calibrated"] = np.exp(logs)
    return recalibrated


def write_posteriors(
    name: str,
    posteriors: Floats,
    labels: NDArray[np.int64],
    out: Path,
) -> Path:
    """Write a classifier's output as a CSV that the command `ecuas` reads."""
    frame = pd.DataFrame(posteriors, columns=[f"prob_{k}" for k in range(posteriors.shape[1])])
    path = out / f"{name.replace(', ', '_').replace(' ', '_').lower()}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.assign(label=labels).to_csv(path, index_label="id")
    return path


def next_steps(paths: Sequence[Path]) -> str:
    """Say in two lines how to compare what was written, and how to score a file of one's own."""
    command = Path(sys.executable).with_name("ecuas")
    if command.is_relative_to(Path.cwd()):
        command = command.relative_to(Path.cwd())
    _, second, third, *_ = (path.as_posix() for path in paths)
    return (
        f"Is a difference more than chance?          {command} compare {third} {second}\n"
        f"Your CSV, columns confidence and correct:  {command} score mine.csv"
    )


if __name__ == "__main__":
    main()
