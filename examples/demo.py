"""Three classifiers on scikit-learn's bundled digits, as they are and calibrated, and the usual metrics of them."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import evaluate
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

from ecuas_metric import apply_affine, cross_validated, fit_affine, posterior_system
from ecuas_metric.plotting.figures import (
    reject_cost_figure,
    reliability_figure,
    risk_coverage_figure,
    save,
)

ROOT = Path(__file__).resolve().parent.parent
Floats = NDArray[np.float64]
Systems = dict[str, Floats]  # posteriors (N, K) by name
CLASSIFIERS = {
    "Gaussian naive Bayes": GaussianNB(),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "random forest": RandomForestClassifier(random_state=0),
}
COLUMNS = {"error_rate": "error rate", "ece": "ECE", "auroc": "AUROC", "aurc": "AURC"}
COLUMNS |= {f"ecuas_{n}": f"ECUAS_{n}" for n in (0, 1, 128)}
FLOOR = 1e-12  # a class that no tree votes for has probability 0, and no logarithm to calibrate


def main(argv: Sequence[str] | None = None) -> None:
    """Fit, calibrate, score, print, write, draw."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), help="where files and figures go (default: demo)"
    )
    out = parser.parse_args(argv).out
    ecuas = evaluate.load(str(ROOT / "ecuas_metric" / "ecuas.py"))
    raw, labels = fit()
    outputs = {**raw, **calibrated(raw, labels)}
    systems = {}
    results = {}
    notes = []
    for name, posteriors in outputs.items():
        systems[name] = posterior_system(labels, posteriors)
        with warnings.catch_warnings(record=True, action="always") as caught:
            results[name] = ecuas.compute(predictions=posteriors, references=labels)
        notes += [f"Note on the {name}: {warning.message}" for warning in caught]
    print(
        f"Handwritten digits, {len(labels)} test samples, 10 classes. Lower is better, but for AUROC.\n"
    )
    print(table(results))
    print(f"\n{reading({name: results[name] for name in raw})}\n{gain(results)}")
    print(*notes, "", sep="\n")
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


def table(results: dict[str, dict[str, float]]) -> str:
    """Return one line per system."""
    header = " " * 33 + "".join(f"{title:>12}" for title in COLUMNS.values())
    rows = [
        f"{name:33}" + "".join(f"{row[key]:12.4f}" for key in COLUMNS)
        for name, row in results.items()
    ]
    return "\n".join([header, *rows])


def reading(results: dict[str, dict[str, float]]) -> str:
    """Say in two lines where AURC and ECUAS_0 disagree."""
    by_aurc = min(results, key=lambda name: results[name]["aurc"])
    by_ecuas = min(results, key=lambda name: results[name]["ecuas_0"])
    if by_aurc == by_ecuas:
        return f"AURC and ECUAS_0 both prefer the {by_aurc}."
    first = results[by_aurc]
    second = results[by_ecuas]
    return (
        f"AURC prefers the {by_aurc} ({first['aurc']:.4f} against {second['aurc']:.4f}): it only asks how the "
        f"confidences rank the errors.\nECUAS_0 prefers the {by_ecuas} ({second['ecuas_0']:.2f} against "
        f"{first['ecuas_0']:.2f}): the other's confidences cannot be taken at their word (ECE "
        f"{first['ece']:.2f} against {second['ece']:.2f})."
    )


def gain(results: dict[str, dict[str, float]]) -> str:
    """Say in a line what calibration does to the system that gains most."""
    falls = {}
    for name, row in results.items():
        after = results.get(f"{name}, calibrated", row)
        falls[name] = row["ecuas_0"] - after["ecuas_0"]
    name = max(falls, key=lambda name: falls[name])
    old = results[name]
    new = results.get(f"{name}, calibrated", old)
    return (
        f"Calibrated, the {name} falls from {old['ecuas_0']:.2f} to {new['ecuas_0']:.2f} in "
        f"ECUAS_0, and from {old['aurc']:.4f} to {new['aurc']:.4f} in AURC."
    )


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
