"""The paper's classification table and figures, recomputed from its public score files beside what it prints."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import log_softmax
from tqdm.auto import tqdm

from ecuas_metric import apply_affine, cross_validated, fit_affine, score_posteriors
from ecuas_metric.inputs import parse_posteriors
from ecuas_metric.plotting.figures import confidence_cost_figure, save
from examples.temperature import temperature_curve, temperature_figure

PRINTED = Path(__file__).parent / "paper_tables" / "classification.csv"
WHERE = """\
The score files are public: https://github.com/luferrer/expected_cost, folder notebooks/data, one folder per system with
scores.npy and targets.npy. Clone it, then: make reproduce SCORES=expected_cost/notebooks/data"""

SYSTEMS = {  # folder or file name -> dataset and model, as the paper names them
    "sst2_gpt2_4shot": ("SST-2", "GPT-2 (4-shot)"),
    "sst2_gpt2": ("SST-2", "GPT-2 (0-shot)"),
    "sitw_plda": ("SITW", "PLDA"),
    "fvcaus_plda": ("FVCAUS", "PLDA"),
    "cifar100_repvgg_a2": ("CIFAR-100", "RepVGG-A2"),
    "cifar100_resnet-20": ("CIFAR-100", "ResNet-20"),
    "cifar100_vgg19_bn": ("CIFAR-100", "VGG19"),
    "pneumoniamnist_resnet50": ("Pneum", "ResNet-50"),
    "adrenalmnist_resnet50": ("Adrenal", "ResNet-50"),
    "pathmnist_resnet50": ("Path", "ResNet-50"),
    "iemocap_wav2vec_pt": ("IEMOCAP", "Wav2Vec 2.0 (PT)"),
    "agnews_gpt2": ("AGNews", "GPT-2"),
    "cifar10_resnet-20": ("CIFAR-10", "ResNet-20"),
    "cifar10_vgg19_bn": ("CIFAR-10", "VGG19"),
    "cifar10_repvgg_a2": ("CIFAR-10", "RepVGG-A2"),
}
COLUMNS = {  # column of the paper's table -> our key, and its title
    "norm_error_rate": ("normalized_error_rate", "N-ER"),
    "ece": ("ece", "ECE"),
    "auroc": ("auroc", "AUC"),
    "norm_confidence_ce": ("normalized_confidence_cross_entropy", "N-CE_qe"),
    "norm_confidence_brier": ("normalized_confidence_brier_score", "N-BS_qe"),
    "norm_posterior_ce": ("normalized_cross_entropy", "N-CE_q"),
    "norm_posterior_brier": ("normalized_brier_score", "N-BS_q"),
    "aurc": ("aurc", "AURC"),
    **{f"norm_ecuas_{n}": (f"normalized_ecuas_{n}", f"N-ECUAS_{n}") for n in (0, 1, 128)},
}
LOGS = "log_probabilities"
Key = tuple[str, str, str]  # dataset, model, raw or cal


@dataclass(frozen=True, slots=True)
class Scores:
    """Log-posteriors, shape (N, K) each, and the true classes, shape (N,)."""

    raw: NDArray[np.float64]
    calibrated: NDArray[np.float64]
    labels: NDArray[np.int64]


def read_scores(folder: Path) -> dict[str, Scores]:
    """Read the scores (N, K) and labels (N,) of known systems: NAME.npz, or NAME/scores.npy and NAME/targets.npy."""
    files = {name: arrays for name in SYSTEMS if (arrays := _arrays(folder, name))}
    if not files:
        raise ValueError(f"no score file of the paper's systems in {folder}.\n{WHERE}")
    systems = {}
    for name, arrays in tqdm(files.items(), desc="calibrating", unit="system", delay=1):
        try:
            scores, labels = parse_posteriors(*arrays)
            raw = log_softmax(scores.astype(np.float64), axis=1)
            systems[name] = Scores(
                raw, cross_validated(fit_affine, apply_affine, raw, labels), labels
            )
        except ValueError as error:
            raise ValueError(f"{folder / name}: {error}") from error
    return systems


def rows_of(systems: dict[str, Scores]) -> dict[Key, dict[str, float]]:
    """Compute the raw and the calibrated row of every system, under the paper's column names."""
    rows = {}
    for name, system in systems.items():
        classes = np.arange(system.raw.shape[1])
        for form, scores in (("raw", system.raw), ("cal", system.calibrated)):
            values = score_posteriors(
                system.labels,
                scores,
                labels=classes,
                normalize=True,
                predictions_are=LOGS,
            )
            rows[*SYSTEMS[name], form] = {
                column: values[key] for column, (key, _) in COLUMNS.items()
            }
    return rows


def printed_rows() -> dict[Key, dict[str, float]]:
    """Read the paper's table, the Brier score of the confidences halved: it is printed at twice its definition."""
    table = pd.read_csv(
        PRINTED,
        index_col=["dataset", "model", "scores"],
        float_precision="round_trip",
    )[list(COLUMNS)]
    table["norm_confidence_brier"] /= 2
    rows: dict[Key, dict[str, float]] = table.to_dict("index")
    return rows


def comparison(ours: dict[Key, dict[str, float]]) -> pd.DataFrame:
    """Return our rows above the printed ones, and the largest deviation of each column below."""
    printed = printed_rows()
    lines: list[list[str | float]] = []
    for key, row in ours.items():
        lines.append([*key, "ours", *row.values()])
        lines.append([*key, "printed", *printed[key].values()])
    apart = pd.DataFrame(ours) - pd.DataFrame(printed)[list(ours)]
    deviations = apart.abs().max(axis=1)
    lines.append(["largest deviation", "", "", "", *deviations[list(COLUMNS)]])
    titles = [title for _, title in COLUMNS.values()]
    return pd.DataFrame(lines, columns=["data", "model", "scores", "values", *titles])


def write_figures(systems: dict[str, Scores], out: Path) -> list[Path]:
    """Write the paper's two figures."""
    temperatures = {
        " ".join(SYSTEMS[name]): temperature_curve(scores.calibrated, scores.labels)
        for name, scores in systems.items()
    }
    figures = {
        "figure1_cost_against_confidence": confidence_cost_figure(),
        "figure2_temperature": temperature_figure(temperatures),
    }
    return [path for name, figure in figures.items() for path in save(figure, out / name)]


def main(argv: list[str] | None = None) -> int:
    """Run the command line; 2 and a readable message when there are no scores."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.paper", description=__doc__, epilog=WHERE
    )
    parser.add_argument("scores", type=Path, nargs="?", help="folder of the score files")
    parser.add_argument(
        "--out", type=Path, default=Path("build/paper"), help="where tables and figures go"
    )
    options = parser.parse_args(argv)
    try:
        if options.scores is None:
            raise ValueError(f"which folder are the score files in?\n{WHERE}")
        systems = read_scores(options.scores)
    except (ValueError, OSError) as error:
        print(f"paper: {error}", file=sys.stderr)
        return 2
    table = comparison(rows_of(systems))
    print(table.to_string(index=False, float_format="{:.4f}".format))
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "classification.csv"
    table.to_csv(path, index=False)  # with all digits
    print(path, *write_figures(systems, options.out), sep="\n")
    return 0


def _arrays(
    folder: Path,
    name: str,
) -> tuple[NDArray[np.generic], NDArray[np.generic]] | None:
    if (folder / f"{name}.npz").exists():
        with np.load(folder / f"{name}.npz") as file:
            return file["scores"], file["targets"]
    if (folder / name / "scores.npy").exists():
        return np.load(folder / name / "scores.npy"), np.load(folder / name / "targets.npy")
    return None


if __name__ == "__main__":
    sys.exit(main())
