"""Three classifiers on scikit-learn's bundled digits, and the metrics they are judged by."""

from pathlib import Path

import evaluate
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).resolve().parent.parent
CLASSIFIERS = {
    "Gaussian naive Bayes": GaussianNB(),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "random forest": RandomForestClassifier(random_state=0),
}
COLUMNS = {
    "error_rate": "error rate",
    "ece": "ECE",
    "auroc": "AUROC",
    "aurc": "AURC",
    "normalized_ecuas_0": "N-ECUAS_0",
    "normalized_ecuas_1": "N-ECUAS_1",
    "normalized_ecuas_128": "N-ECUAS_128",
}


def main() -> None:
    """Fit, score, print."""
    ecuas = evaluate.load(str(ROOT / "ecuas_metric" / "ecuas.py"))
    train, test, train_labels, test_labels = train_test_split(
        *load_digits(return_X_y=True), test_size=0.5, random_state=0, stratify=load_digits().target
    )
    results = {}
    for name, classifier in CLASSIFIERS.items():
        posteriors = classifier.fit(train, train_labels).predict_proba(test)
        results[name] = ecuas.compute(predictions=posteriors, references=test_labels, normalize=True)
    print(f"Handwritten digits, {len(test)} test samples, 10 classes. Lower is better, but for AUROC.\n")
    print(table(results))
    print(f"\n{reading(results)}")


def table(results: dict[str, dict[str, float]]) -> str:
    """Return one line a system."""
    head = " " * 22 + "".join(f"{title:>12}" for title in COLUMNS.values())
    rows = [f"{name:22}" + "".join(f"{row[key]:12.4f}" for key in COLUMNS) for name, row in results.items()]
    return "\n".join([head, *rows])


def reading(results: dict[str, dict[str, float]]) -> str:
    """Say in two lines where AURC and ECUAS_0 disagree."""
    by_aurc = min(results, key=lambda name: results[name]["aurc"])
    by_ecuas = min(results, key=lambda name: results[name]["normalized_ecuas_0"])
    if by_aurc == by_ecuas:
        return f"AURC and ECUAS_0 both prefer the {by_aurc}."
    first, second = results[by_aurc], results[by_ecuas]
    return (
        f"AURC prefers the {by_aurc} ({first['aurc']:.4f} against {second['aurc']:.4f}): it only asks how the "
        f"confidences rank the errors.\nECUAS_0 prefers the {by_ecuas} ({second['normalized_ecuas_0']:.2f} against "
        f"{first['normalized_ecuas_0']:.2f}): the other's confidences cannot be taken at their word (ECE "
        f"{first['ece']:.2f} against {second['ece']:.2f})."
    )


if __name__ == "__main__":
    main()
