"""What each metric is, said once more by hand, so that no entry changes unseen; one without a row is what it says."""

import re
from typing import NamedTuple

from ecuas_metric.metric import Key
from ecuas_metric.metrics import METRICS
from ecuas_metric.results import value_keys

# In the order of the registry: key; title, with _ for spaces; what it assesses; which values are better (lower, higher,
# neither); the input that it needs (any, confidences, costs, posteriors); its unit (cost or none); whether bounds are
# known where answers are unlabelled (yes, no); when it is shown (always, named, calibration, ratio); the option that
# has its parameters (- for none); its place in tables.
ROWS = """
error_rate ER decisions lower confidences none yes always - 1
risk Risk decisions lower costs cost yes always - 2
ece ECE confidences lower confidences none yes always - 3
auroc AUROC confidences higher confidences none yes always - 4
confidence_cross_entropy CE_conf confidences lower confidences none yes always - 5
confidence_brier_score BS_conf confidences lower confidences none yes always - 6
cross_entropy CE posteriors lower posteriors none yes always - 7
brier_score BS posteriors lower posteriors none yes always - 8
aurc AURC both lower any cost yes always - 9
augrc AUGRC both lower any cost yes always - 10
ecuas ECUAS both lower any none yes always n 11
expected_cost EC both lower any cost yes always reject_costs 12
coverage Cov confidences neither any none yes always reject_costs 13
accepted_cost AC both lower any cost yes ratio reject_costs 14
selective_risk SR both neither any cost yes always reject_costs 15
ece_debiased ECE_deb. confidences lower confidences none no calibration - 16
calibration_p p_cal. confidences neither confidences none no calibration - 17
prr PRR confidences higher confidences none no named - 20
prr_0.5 PRR_0.5 confidences higher confidences none no named - 21
auarc AUARC both higher confidences none yes named - 22
e_aurc E-AURC confidences lower confidences none no named - 23
error_average_precision AP_err confidences higher confidences none no named - 24
fpr_at_95_tpr FPR95 confidences lower confidences none no named - 25
risk_at_coverage Risk@cov both lower any cost yes named any 26
coverage_at_risk Cov@risk both higher any none yes named any 27
mce MCE confidences lower confidences none yes named - 28
ece_equal_mass ECE_mass confidences lower confidences none yes named - 29
smooth_ece smECE confidences lower confidences none no named - 30
"""


class Row(NamedTuple):
    """A metric, in words."""

    name: str
    title: str
    assesses: str
    better: str
    needs: str
    unit: str
    bounds: str
    when: str
    parameter: str
    column: str


def _row(line):
    words = line.split()
    assert len(words) == len(Row._fields), f"not {len(Row._fields)} words in ROWS: {line}"
    return Row(*words)


def _row_from(metric):
    """Return the row of a metric that has none here, by its entry; only its unit is a guess."""
    return Row(
        name=metric.name,
        title=metric.title.replace(" ", "_"),
        assesses=metric.assesses,
        better={True: "higher", False: "lower", None: "neither"}[metric.higher_is_better],
        needs=metric.needs or "any",
        unit="cost" if callable(metric.range) else "none",
        bounds="yes" if metric.has_bounds else "no",
        when=metric.when or "always",
        parameter=metric.parameter or "-",
        column=f"{metric.column:g}",
    )


PINNED = {row.name: row for row in map(_row, ROWS.strip().splitlines())}
REGISTRY = {name: PINNED.get(name) or _row_from(metric) for name, metric in METRICS.items()}


def row_of(key):
    """Return the row of a metric, by its name or by its key with a parameter."""
    name = key if key in REGISTRY else re.sub(r"_[\d.]+$", "", key)
    assert name in REGISTRY, f"ROWS of tests/ecuas_metric/registry.py has no row of {name}"
    return REGISTRY[name]


def shown_keys(*needs, **parameters):
    """Return the keys of what is shown without being asked for, of systems that have what some metrics need."""
    keys = []
    for row in REGISTRY.values():
        if row.when != "always" or row.needs not in ("any", *needs):
            continue
        if row.parameter == "-":
            keys.append(row.name)
        keys += [f"{row.name}_{value:g}" for value in parameters.get(row.parameter, ())]
    return keys


def every_key(system, *parameters):
    """Return the keys of all numbers of a system, with some parameters also of what is shown only when named."""
    keys = value_keys(system.decisions, system.options)
    for name, metric in METRICS.items():
        if metric.when == "named" and metric.applies(system.decisions):
            keys += [Key(name, one) for one in (parameters if metric.parameter else [None])]
    return keys


def is_by_differences(metric):
    """Whether the influence on a metric is a quotient of differences, which has half the digits of the number."""
    has_interval = not (metric.is_biased or metric.of_samples)
    return has_interval and metric.value is not None and metric.line is None
