"""ECUAS_n: the expected cost of a system that answers and says how sure it is, and the metrics it is compared with.

The names below are the public interface; each is imported when it is first used. `evaluate.load` takes the module
`ecuas.py` beside this file, and nothing from here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import augrc_score as augrc_score
    from .api import aurc_score as aurc_score
    from .api import auroc_score as auroc_score
    from .api import calibration_p_value as calibration_p_value
    from .api import confidence_ecuas_score as confidence_ecuas_score
    from .api import confidence_system as confidence_system
    from .api import ece_score as ece_score
    from .api import ecuas_score as ecuas_score
    from .api import posterior_system as posterior_system
    from .api import score_confidences as score_confidences
    from .api import score_costs as score_costs
    from .api import score_posteriors as score_posteriors
    from .comparison.compare import Comparisons as Comparisons
    from .comparison.compare import compare_systems as compare_systems
    from .comparison.gate import Gate as Gate
    from .comparison.gate import check_gate as check_gate
    from .comparison.locked import Lock as Lock
    from .comparison.locked import VersionCheck as VersionCheck
    from .comparison.locked import check_locked as check_locked
    from .comparison.locked import lock_reject_cost as lock_reject_cost
    from .comparison.planning import Plan as Plan
    from .comparison.planning import Plans as Plans
    from .comparison.planning import plan_of_systems as plan_of_systems
    from .comparison.rows import Comparison as Comparison
    from .comparison.verdict import Ranking as Ranking
    from .comparison.verdict import Region as Region
    from .comparison.verdict import Verdict as Verdict
    from .costs import ecuas_cost as ecuas_cost
    from .costs import fixed_reject_cost as fixed_reject_cost
    from .costs import weighted_cost as weighted_cost
    from .errors import InputError as InputError
    from .errors import Note as Note
    from .files.submissions import Submission as Submission
    from .files.systems import prepare_submissions as prepare_submissions
    from .files.systems import read_submissions as read_submissions
    from .metric import Key as Key
    from .metrics import Metric as Metric
    from .metrics import add_metric as add_metric
    from .metrics import remove_metric as remove_metric
    from .recalibration.maps import Recalibration as Recalibration
    from .recalibration.maps import apply_affine as apply_affine
    from .recalibration.maps import apply_isotonic as apply_isotonic
    from .recalibration.maps import cross_validated as cross_validated
    from .recalibration.maps import fit_affine as fit_affine
    from .recalibration.maps import fit_isotonic as fit_isotonic
    from .recalibration.maps import fit_recalibration as fit_recalibration
    from .recalibration.maps import fit_temperature as fit_temperature
    from .rejection import RejectCostChoice as RejectCostChoice
    from .rejection import RowDecisions as RowDecisions
    from .rejection import choose_reject_cost as choose_reject_cost
    from .rejection import decide as decide
    from .rejection import decide_confidences as decide_confidences
    from .reporting.report import Report as Report
    from .reporting.report import make_report as make_report
    from .results import Estimate as Estimate
    from .results import Results as Results
    from .results import System as System
    from .scale.frames import score_frame as score_frame
    from .summary import SummaryResults as SummaryResults
    from .summary import SystemResults as SystemResults

    __version__: str

# In the order of the reference page.
_NAMES = {
    "api": (
        "ecuas_score confidence_ecuas_score ece_score calibration_p_value auroc_score aurc_score augrc_score "
        "score_posteriors score_confidences score_costs posterior_system confidence_system"
    ),
    "costs": "ecuas_cost fixed_reject_cost weighted_cost",
    "rejection": "decide decide_confidences RowDecisions choose_reject_cost RejectCostChoice",
    "recalibration.maps": (
        "fit_recalibration Recalibration cross_validated "
        "fit_affine fit_temperature apply_affine fit_isotonic apply_isotonic"
    ),
    "files.systems": "read_submissions prepare_submissions",
    "files.submissions": "Submission",
    "results": "System Results Estimate",
    "reporting.report": "make_report Report",
    "scale.frames": "score_frame",
    "summary": "SummaryResults SystemResults",
    "comparison.compare": "compare_systems Comparisons",
    "comparison.rows": "Comparison",
    "comparison.verdict": "Verdict Ranking Region",
    "comparison.gate": "check_gate Gate",
    "comparison.locked": "lock_reject_cost Lock check_locked VersionCheck",
    "comparison.planning": "plan_of_systems Plans Plan",
    "errors": "InputError Note",
    "metric": "Key",
    "metrics": "Metric add_metric remove_metric",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted([*_MODULES, "__version__"])


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
