"""ECUAS_n: the expected cost of a system that answers and says how sure it is, and the metrics it is compared with.

The names below are the public interface; each is imported when it is first used. `evaluate.load` takes the module
`ecuas.py` beside this file, and nothing from here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import (
        augrc_score,
        aurc_score,
        auroc_score,
        calibration_p_value,
        confidence_ecuas_score,
        confidence_system,
        ece_score,
        ecuas_score,
        posterior_system,
        score_confidences,
        score_costs,
        score_posteriors,
    )
    from .comparison.compare import compare_systems
    from .costs import ecuas_cost, fixed_reject_cost, weighted_cost
    from .errors import InputError
    from .files.submissions import read_submissions
    from .recalibration.affine import apply_affine, fit_affine, fit_temperature
    from .recalibration.folds import cross_validated
    from .recalibration.isotonic import apply_isotonic, fit_isotonic
    from .reporting.report import make_report, prepare_submissions
    from .version import VERSION as __version__

__all__ = [
    "InputError",
    "__version__",
    "apply_affine",
    "apply_isotonic",
    "augrc_score",
    "aurc_score",
    "auroc_score",
    "calibration_p_value",
    "compare_systems",
    "confidence_ecuas_score",
    "confidence_system",
    "cross_validated",
    "ece_score",
    "ecuas_cost",
    "ecuas_score",
    "fit_affine",
    "fit_isotonic",
    "fit_temperature",
    "fixed_reject_cost",
    "make_report",
    "posterior_system",
    "prepare_submissions",
    "read_submissions",
    "score_confidences",
    "score_costs",
    "score_posteriors",
    "weighted_cost",
]

# In the order of the reference page.
_NAMES = {
    "api": (
        "ecuas_score confidence_ecuas_score ece_score calibration_p_value auroc_score aurc_score augrc_score "
        "score_posteriors score_confidences score_costs posterior_system confidence_system"
    ),
    "costs": "ecuas_cost fixed_reject_cost weighted_cost",
    "recalibration.affine": "fit_affine fit_temperature apply_affine",
    "recalibration.isotonic": "fit_isotonic apply_isotonic",
    "recalibration.folds": "cross_validated",
    "files.submissions": "read_submissions",
    "reporting.report": "prepare_submissions make_report",
    "comparison.compare": "compare_systems",
    "errors": "InputError",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # else a type checker would take any name for one of this package

    def __getattr__(name):
        if name == "__version__":
            value = import_module(".version", __name__).VERSION
        elif name in _MODULES:
            value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value  # next time without a call
        return value
