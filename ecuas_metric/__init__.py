"""ECUAS_n: the expected cost of a system that answers and says how sure it is, and the metrics it is compared with.

The names below are the public interface; each is imported when it is first used. `evaluate.load` takes the module
`ecuas.py` beside this file, and nothing from here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import (
        augrc_score as augrc_score,
    )
    from .api import (
        aurc_score as aurc_score,
    )
    from .api import (
        auroc_score as auroc_score,
    )
    from .api import (
        confidence_ecuas_score as confidence_ecuas_score,
    )
    from .api import (
        confidence_system as confidence_system,
    )
    from .api import (
        ece_score as ece_score,
    )
    from .api import (
        ecuas_score as ecuas_score,
    )
    from .api import (
        posterior_system as posterior_system,
    )
    from .api import (
        score_confidences as score_confidences,
    )
    from .api import (
        score_costs as score_costs,
    )
    from .api import (
        score_posteriors as score_posteriors,
    )
    from .costs import (
        ecuas_cost as ecuas_cost,
    )
    from .costs import (
        fixed_reject_cost as fixed_reject_cost,
    )
    from .costs import (
        weighted_cost as weighted_cost,
    )
    from .errors import InputError as InputError
    from .recalibration import (
        apply_affine as apply_affine,
    )
    from .recalibration import (
        apply_isotonic as apply_isotonic,
    )
    from .recalibration import (
        cross_validated as cross_validated,
    )
    from .recalibration import (
        fit_affine as fit_affine,
    )
    from .recalibration import (
        fit_isotonic as fit_isotonic,
    )
    from .recalibration import (
        fit_temperature as fit_temperature,
    )
    from .reporting.comparison import compare_systems as compare_systems
    from .reporting.report import make_report as make_report
    from .reporting.report import prepare_submissions as prepare_submissions
    from .reporting.submissions import read_submissions as read_submissions
    from .signature import VERSION as __version__

_MODULES = {
    "api": (
        "ecuas_score confidence_ecuas_score ece_score auroc_score aurc_score augrc_score "
        "score_posteriors score_confidences score_costs posterior_system confidence_system"
    ),
    "costs": "ecuas_cost fixed_reject_cost weighted_cost",
    "recalibration": "fit_affine fit_temperature apply_affine fit_isotonic apply_isotonic cross_validated",
    "reporting.submissions": "read_submissions",
    "reporting.report": "prepare_submissions make_report",
    "reporting.comparison": "compare_systems",
    "errors": "InputError",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module(".signature", __name__).VERSION
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
