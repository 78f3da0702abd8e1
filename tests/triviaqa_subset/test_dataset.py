"""The dataset as it is committed: it loads offline, its labels agree with each other, its card is true."""

import hashlib
import itertools
import json
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Features
from huggingface_hub import DatasetCard
from scipy.stats import norm

from ecuas_metric.comparison.planning import plan_from_rates
from ecuas_metric.messages import ADVICE
from ecuas_metric.metric import Key
from triviaqa_subset.build import main
from triviaqa_subset.configurations import (
    ANSWERS,
    CURATED,
    GOLD_FEATURES,
    POOL,
    PUBLISHED,
    SCORES,
    SYSTEMS,
)
from triviaqa_subset.folders import FOLDER
from triviaqa_subset.labels import CURATION

PRINTED = ("error_rate", "ece", "auroc", "confidence_cross_entropy", "confidence_brier_score", "ecuas_0", "ecuas_1",
           "ecuas_128")  # fmt: skip
SELECTED = {"exact_match_all": 256, "reviewed": 199}
ROWS = {
    "curated": 455,
    "kept": 918,
    "pool": 977,
    "systems": 20_517,
    "answers": 2683,
    "gold": 975,
    "published": 42,
    "scores": 3642,
}
PAPER_NAMES = {"sequence_posterior": "Seq. Post.", "is_true": "Is True", "verbalized": "Verbalized"}
THEIRS = {"confidence_cross_entropy": "confidence_ce", "confidence_brier_score": "confidence_brier"}
FEATURES = dict(
    zip(
        ROWS,
        (CURATED, CURATED, POOL, SYSTEMS, ANSWERS, GOLD_FEATURES, PUBLISHED, SCORES),
        strict=True,
    )
)
STRATA = tuple(SELECTED)


def read(name, folder=FOLDER):
    """Read a configuration, with the names instead of the numbers of its class labels."""
    table = pd.read_parquet(folder / "data" / f"{name}.parquet")
    for column, feature in FEATURES[name].items():
        if isinstance(feature, ClassLabel):
            table[column] = feature.int2str(table[column].tolist())
    return table


curated, pool, systems, answers = map(read, ("curated", "pool", "systems", "answers"))
weight = dict(zip(curated["question_id"], curated["weight"], strict=True))
asked = systems.merge(pool, on="question_id").assign(weight=systems["question_id"].map(weight))
OF = dict(list(asked.groupby(["llm", "method"])))
ANSWERING = [system for system in OF if system[1] != "is_true"]  # with answers of their own
card = DatasetCard.load(FOLDER / "README.md")
# how the dataset was made
page = (FOLDER.parent / "docs" / "dataset.md").read_text("utf-8")


def words(text):
    """Return a text without its line ends."""
    return " ".join(text.split())


both = words(card.text + page)


def section(text, title):
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def cells(text):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in re.findall(r"^\|.*\|$", text, re.M)
    ]


def place(text, name):
    """Return the rows of a table that is made of the data, without its header."""
    return cells(
        text.split(f"<!-- {name}: checked by tests -->\n")[1].split(f"\n<!-- end of {name} -->")[0]
    )[2:]


def decimals(*values):
    return [f"{value:.3f}" for value in values]


@pytest.mark.long
def test_the_committed_data_is_what_the_build_makes_now(tmp_path, capsys):
    assert main(["--without-text", "--out", str(tmp_path)]) == 0
    rows = [f"{name}: {number} rows" for name, number in ROWS.items()]
    first = "made from the curation alone: the redraw and the question texts were not checked"
    assert capsys.readouterr().out.splitlines() == [first, *rows, f"written to {tmp_path}"]
    for name in FEATURES:
        pd.testing.assert_frame_equal(read(name, tmp_path), read(name), check_exact=True)
        # with page indexes for the Hub
        group = pq.read_metadata(tmp_path / "data" / f"{name}.parquet").row_group(0)
        assert all(group.column(i).has_offset_index for i in range(group.num_columns))
    assert (tmp_path / "README.md").read_bytes() == (FOLDER / "README.md").read_bytes()
    sums = dict(
        reversed(line.split("  "))
        for line in (tmp_path / "data" / "SHA256SUMS").read_text().splitlines()
    )
    files = (tmp_path / "data").glob("*.parquet")
    assert sums == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    assert len((FOLDER / "README.md").read_text().splitlines()) <= 312


def test_no_question_or_answer_text_is_in_the_project(root, rows_of_text):
    files = [
        path for part in (FOLDER, root / "tests") for path in part.rglob("*") if path.is_file()
    ]
    everything = b"\n".join(path.read_bytes() for path in files if path.suffix != ".pyc")
    questions = {row["question"].removesuffix("...") for row in rows_of_text}
    long = {a["answer"] for row in rows_of_text for a in row["answers"] if len(a["answer"]) > 25}
    assert not [text for text in questions | long if text.encode() in everything]


def test_the_metadata_and_the_example_of_the_card():
    assert (card.data.license, card.data.to_dict()["size_categories"]) == (
        "apache-2.0",
        ["10K<n<100K"],
    )
    (example,) = re.findall(r"^```json\n(.*?)\n```", card.text, re.M)
    assert json.loads(example) == curated.iloc[0].to_dict()


@pytest.mark.long
def test_the_python_of_the_card_runs_as_written_and_loads_every_configuration(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", card.text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    exec("\n".join(blocks), loaded := {})
    for name, features in FEATURES.items():
        assert (len(loaded[name]), loaded[name].features) == (ROWS[name], Features(features))
    printed = [line for block in blocks for line in re.findall(r"print\(.*\)  +# (.*)", block)]
    assert printed == capsys.readouterr().out.splitlines()[: len(printed)]
    assert len(printed) == 2


def test_the_columns_of_the_card_are_those_of_the_data():
    said = {}
    for names, kind, _ in cells(
        card.text[card.text.index("## Columns") : card.text.index("## Grade")]
    ):
        kinds = kind.split(", ") if ", " in kind else [kind] * 99
        said |= {
            name: one
            for name, one in zip(names.split(", "), kinds, strict=False)
            if one and name not in said
        }
    forms = {"Value": "{0.dtype}", "ClassLabel": "class label", "List": "list of {0.feature.dtype}"}
    features = {name: feature for table in FEATURES.values() for name, feature in table.items()}
    types = {
        name: forms[type(feature).__name__].format(feature) for name, feature in features.items()
    }
    texts = {"question": "string", "answer": "struct"}
    assert {
        name: kind for name, kind in said.items() if name not in ("column", "---")
    } == types | texts


def error_rates(column):
    """By system, from the data alone: errors divided by questions in the subset, the same weighted, and of all kept."""
    shares, rates = pool["stratum"][pool["decision"] == "keep"].value_counts(normalize=True), {}
    for system, own in OF.items():
        wrong, chosen = ~own[column], own["selected"]
        stratified = (wrong[chosen].groupby(own["stratum"]).mean() * shares).sum()
        rates[system] = (wrong[chosen].mean(), stratified, wrong[own["decision"] == "keep"].mean())
    return rates


by_labels, by_match = map(error_rates, ("correct", "exact_match"))
on_card, discards, unlabelled = (
    {(llm, method): row for llm, method, *row in place(text, name)}
    for text, name in ((page, "rates"), (page, "discards"), (page, "unlabelled"))
)


@pytest.mark.long
def test_the_tables_of_systems_are_made_of_the_data():
    assert set(on_card) == set(discards) == set(unlabelled) == set(ANSWERING)
    changed, best = [], next(iter(discards))
    for system in ANSWERING:
        own, rates = OF[system], decimals(*by_labels[system], *by_match[system][:2])
        assert [*on_card[system][:3], *on_card[system][4:6]] == rates
        wrong, gone = ~own["correct"], own["decision"] == "discard"
        right = ~wrong & (own["stratum"] == "reviewed")
        assert discards[system] == decimals(
            gone[wrong].mean(), gone[right].mean(), wrong[~gone].mean(), wrong.mean()
        )
        others = systems[~systems["exact_match"] & (systems["llm"] != system[0])]
        answered = {*zip(others["question_id"], others["answer_sha256"], strict=True)}
        keys = zip(own["question_id"], own["answer_sha256"], strict=True)
        left = ~own["exact_match"] & np.array([key not in answered for key in keys])
        error, alone, open_wrong = (
            own["weight"][rows].sum() / 455 for rows in (wrong, left, left & wrong)
        )
        low, high = error - open_wrong, error + alone - open_wrong
        expected = decimals(error, alone, 1 - open_wrong / alone, low / (1 - alone), high)
        assert unlabelled[system] == [*expected, f"{low:.3f} to {high:.3f}"]
        changed.append((high - error, low / (1 - alone) / error))
    assert float(discards[best][3]) > 1.5 * float(discards[best][2])
    assert float(unlabelled[best][4]) > 2 * float(unlabelled[best][0])
    added, kept = zip(*changed, strict=True)
    assert f"they divide the error rate by {1 / max(kept):.1f} to {1 / min(kept):.1f}" in both
    assert (
        f"added up to {max(added):.3f} to the error rates of seven language models"
        in ADVICE["unlabelled_are_wrong"]
    )
    assert (
        f"models on TriviaQA to {min(kept):.2f} to {max(kept):.2f} of their values"
        in ADVICE["unlabelled_dropped"]
    )


def test_the_published_figures_are_the_papers_and_stand_beside_ours(shared):
    found, tables = read("published"), shared / "paper" / "tables"
    judge = pd.read_csv(tables / "llm_vs_human_labels.csv").set_index(["llm", "method"])[
        "error_rate_llm"
    ]
    for task, rows in found.groupby("task"):
        paper = pd.read_csv(tables / f"{task}.csv").set_index(["llm", "method"])
        assert len(rows) == len(paper) == 21
        for row in rows.to_dict("records"):
            llm = row["llm"].replace("Qwen3.5-", "Qwen3.5 ")
            llm = llm.replace("-", " ").title() if "gemini" in llm else llm
            name = llm, PAPER_NAMES[row["method"]]
            theirs = paper.loc[name].rename({old: new for new, old in THEIRS.items()})
            assert [row[key] for key in PRINTED] == [theirs[key] for key in PRINTED]
            ours = [row[f"our_{kind}error_rate"] for kind in ("", "weighted_")]
            if task == "mmlu":
                assert np.isnan([*ours, row["error_rate_by_judge"]]).all()
                continue
            assert row["error_rate_by_judge"] == judge[name]
            assert ours == pytest.approx(by_labels[row["llm"], row["method"]][:2], abs=1e-12)
            if row["method"] != "is_true":
                beside = on_card[row["llm"], row["method"]]
                assert [float(beside[3]), float(beside[6])] == [
                    row["error_rate"],
                    row["error_rate_by_judge"],
                ]


def test_what_the_card_says_of_the_error_rates_holds():
    ratios = [subset / of_pool for subset, _, of_pool in by_labels.values()]
    easy, hard = (curated["weight"][curated["stratum"] == stratum].iloc[0] for stratum in STRATA)
    kept = pool["stratum"][pool["decision"] == "keep"]
    missed = max(abs(weighted - of_pool) for _, weighted, of_pool in by_labels.values())
    gaps = [by_match[system][0] - by_labels[system][0] for system in OF]
    for said in (
        f"({1 / hard:.2f} by design; {min(ratios):.2f} to {max(ratios):.2f} for the 21 systems)",
        f"each weighted error rate is {hard:.3f} times the unweighted one",
        f"each of them counts {easy:.3f}",
        f"since 199 questions represent {(kept == 'reviewed').sum()}; ",
        f"here it misses the pool's value by {missed:.3f} at most",
        f"make up {25600 / 455:.0f} % of it, but only {100 * (kept == 'exact_match_all').mean():.0f} % of the",
        f"By exact match error rates on the subset are {min(gaps):.2f} to {max(gaps):.2f} higher",
        "a table of error rates of the 21 systems holds 14 distinct results",
        "two change their order, and three become or cease to be ties",
        f"would leave up to {100 * max(float(row[1]) for row in unlabelled.values()):.0f} % of that one's answers",
    ):
        assert said in both
    wide = systems.pivot(
        index="question_id", columns=["llm", "method"], values="answer_sha256"
    ).fillna("")
    assert len({tuple(column) for column in wide.to_numpy().T}) == 14
    pairs = list(itertools.combinations(ANSWERING, 2))
    signs = [
        [np.sign(round(455 * (of[a][0] - of[b][0]))) for of in (by_labels, by_match)]
        for a, b in pairs
    ]
    assert len(pairs) == 91
    assert sum(a * b < 0 for a, b in signs) == 2
    assert sum(a * b == 0 and a != b for a, b in signs) == 3


def test_the_numbers_of_both_pages_are_those_of_the_data(curation):
    second = words(page)
    reasons, strata = pool["reason"].value_counts(), pool["stratum"].value_counts()
    kept = pool[pool["decision"] == "keep"]["stratum"].value_counts()
    selected = set(pool["question_id"][pool["selected"]])
    dropped = curation["aliases"]["question_id"]
    pro = asked[(asked["llm"] == "gemini-2.5-pro") & (asked["method"] != "is_true")]
    gone, reviewed = pro["decision"] == "discard", pro["stratum"] == "reviewed"
    shares = {
        c: gone[reviewed & (pro["correct"] == c)].groupby(pro["method"]).mean()
        for c in (False, True)
    }
    errors = [(~rows["correct"]).groupby(rows["method"]).mean() for rows in (pro, pro[~gone])]
    for said in (
        f"judged correct ({answers['correct'].sum()} answers)",
        f"might accept it ({answers['debatable'].sum()} answers)",
        f"({answers['full_sha256'].notna().sum()} answers); else null",
        f"which alone were available ({answers['cut'].sum()} answers)",
        f"`kept`, {kept.sum()} rows",
        f"{len(dropped):,} aliases of {dropped.nunique()} questions ({len(set(dropped) & selected)} of the 455)",
        f"got wrong, {100 * shares[False].min():.0f} to {100 * shares[False].max():.0f} % are discarded, of the others "
        f"{100 * shares[True].mean():.0f} %",
        f"on all 977 questions is {errors[0].min():.3f} to {errors[0].max():.3f}",
        f"on the kept ones {errors[1].min():.3f} to {errors[1].max():.3f}",
    ):
        assert said in both
    for said in (
        f"{kept.sum()} are kept; {977 - kept.sum()} are discarded: {reasons['ambiguous']} ambiguous or broken, "
        f"{reasons['bad_gold']} with a wrong or nonsensical gold answer or a false premise, "
        f"{reasons['time_dependent']} time-dependent, {reasons['offensive']} offensive.",
        f"{strata['exact_match_all']} of 977 (27 %)",
        f"where N_h of the N = {kept.sum()} kept",
        *(
            f"| {s} | {kept[s]} | {n} | {kept[s] / kept.sum() / (n / 455):.6f} |"
            for s, n in SELECTED.items()
        ),
        f"{len(dropped):,} aliases of {dropped.nunique()} questions are dropped",
    ):
        assert said in second
    assert (shares[True].max() - shares[True].min()) < 0.005
    hashes = pool["question_sha256"]  # of a text that was cut off: null, and not another question's
    assert (
        hashes.isna().sum(),
        hashes[pool["selected"]].isna().sum(),
        hashes.dropna().is_unique,
    ) == (10, 6, True)
    assert pool["pool_positions"].str[0].is_monotonic_increasing  # in the order of the draws
    four = curation["aliases"][curation["aliases"]["curation"] == "4"]["question_id"]
    assert f"{len(four):,} more aliases of {four.nunique()} questions are dropped" in second


def test_the_tables_of_rules_decisions_and_errata_are_those_of_the_logs(curation):
    for rule, *counts in place(page, "decisions"):
        own = curation["decisions"]["decision"][curation["decisions"]["rule"] == rule]
        assert list(map(int, counts)) == [
            len(own),
            *((own == kind).sum() for kind in ("keep", "alias", "discard")),
        ]
    rows, errata = place(page, "errata"), curation["errata"]
    shown = {(curation, own, why) for curation, ids, _, _, why in rows for own in ids.split(", ")}
    assert shown == set(zip(errata["curation"], errata["question_id"], errata["why"], strict=True))
    measured = pd.read_csv(CURATION / "rates.csv").itertuples()  # measured again in test_grading
    for row, (_, rule, name, number, *counts) in zip(place(page, "grading"), measured, strict=True):
        assert sum(counts[:3]) == number
        assert row[:6] == [
            rule,
            name,
            f"{number:,}",
            *(f"{100 * count / number:.1f} %" for count in counts[:3]),
        ]


def test_the_card_has_the_rates_of_answers_held_apart_and_of_those_that_the_rules_were_mended_on():
    rows = pd.read_csv(CURATION / "rates.csv")

    def accepted(rule, group):
        own = rows[(rows["rule"] == rule) & rows["answers"].str.contains(group)]
        return f"{100 * own['accepted'].sum() / own['number'].sum():.1f} %"

    shares = [
        accepted("equality", "held apart, right, short"),
        accepted("equality", "held apart, right, in sentences"),
        accepted("equality", "held apart, wrong"),
        accepted("containment", "held apart, right"),
        accepted("containment", "held apart, wrong"),
        accepted("equality", "^right, "),
    ]
    passage = card.text.partition("**How often the rules are right**")[2].partition("\n")[0]
    assert re.findall(r"[\d.]+ %", passage) == shares
    apart = rows[rows["answers"].str.startswith("held apart") & (rows["rule"] == "equality")]
    assert f"{apart['number'].sum():,} of five systems" in passage


SAID = {  # a configuration -> how pages say how many questions it has
    "curated": r"the curated (\d+)|the (\d+) of the subset|`curated` \(default\), (\d+) rows|over the (\d+) questions",
    "kept": r"(?:the|=|all) (\d+) kept questions|`kept`, (\d+) rows|(\d+) are kept; \d+ are discarded"
    r"|[Aa]ll (\d{3,}) (?:answers|kept|of `kept`|questions that|that were kept)",
    "pool": r"`pool`, (\d+) rows|leaves (\d+) distinct|`-T questions=pool` all (\d+)|(\d+) questions x 21",
}


@pytest.mark.parametrize("name", SAID)
def test_pages_say_how_many_questions_there_are(name):
    root = FOLDER.parent
    pages = [FOLDER / "README.md", *root.glob("docs/*.md"), *root.glob("space/*.*")]
    numbers = [
        number
        for page in pages
        for found in re.findall(SAID[name], re.sub(r"\W*\n\W*", " ", page.read_text()))
        for number in found
        if number
    ]
    assert len(numbers) >= 3
    assert set(numbers) == {str(ROWS[name])}


@pytest.mark.long
def test_the_detectable_differences_of_the_card():
    rows = {row[0]: row[1] for row in cells(section(card.text, "How much it can tell"))[2:]}
    wide = asked[asked["method"] == "sequence_posterior"].pivot(
        index="question_id", columns="llm", values="correct"
    )
    wide, own = wide.astype(float), pool.set_index("question_id").loc[wide.index]
    kept, selected = own["decision"] == "keep", own["selected"]
    power = norm.ppf(0.975) + norm.ppf(0.8)
    designs = {"455, weighted": (selected, kept), "all 918 kept": (kept, kept)}
    for name, (chosen, design) in designs.items():
        shares, found = own["stratum"][design].value_counts(normalize=True), []
        for a, b in itertools.combinations(wide, 2):
            of = (wide[a] - wide[b])[chosen].groupby(own["stratum"])
            found.append(power * np.sqrt((shares**2 * of.var() / of.size()).sum()))
        assert rows[name] == f"{np.median(found):.3f} ({min(found):.3f} to {max(found):.3f})"
    found = [wide[a][selected].corr(wide[b][selected]) for a, b in itertools.combinations(wide, 2)]
    said = f"between {min(found):.2f} and {max(found):.2f} for the correctness of these 21 pairs, "
    assert said + f"median {np.median(found):.2f}" in both


def test_a_plan_for_the_subset_finds_what_its_design_does():
    """By the formula of the card, for two systems that err on reviewed questions alone."""
    rates, correlation = np.array([0.30, 0.36]), 0.43
    share = (pool["stratum"][pool["decision"] == "keep"] == "reviewed").mean()
    drawn = SELECTED["reviewed"]
    wrong_in_both = rates.prod() + correlation * np.sqrt((rates * (1 - rates)).prod())
    one_alone = rates - wrong_in_both
    difference = one_alone[0] - one_alone[1]
    variance = one_alone.sum() / share - (difference / share) ** 2  # within the stratum
    power = norm.ppf(0.975) + norm.ppf(0.8)
    squared_error = share**2 * variance / drawn
    detectable = power * np.sqrt(squared_error)
    as_many = (one_alone.sum() - difference**2) / squared_error
    command = f"--error-rates 0.30,0.36 --correlation {correlation} --samples {as_many:.0f}"
    assert f"{command}` (it says {detectable:.3f})" in both
    for samples, said in ((as_many, detectable), (455, 0.066)):
        plan = plan_from_rates(
            Key("error_rate"), rates.tolist(), samples=round(samples), correlation=correlation
        )
        assert f"{plan.detectable:.3f}" == f"{said:.3f}"
        assert f"{said:.3f}" in both


def test_the_stability_of_the_ranking_is_measured(rng):
    """The 199 questions of the stratum with errors are drawn again, as the 455 were."""
    kept = asked[(asked["method"] == "sequence_posterior") & (asked["decision"] == "keep")]
    wrong = 1.0 - kept.pivot(index="question_id", columns="llm", values="correct").astype(float)
    reviewed = wrong[
        wrong.index.isin(set(pool["question_id"][pool["stratum"] == "reviewed"]))
    ].to_numpy()
    share = len(reviewed) / len(wrong)
    draws = share * np.array([rng.permutation(reviewed)[:199].mean(axis=0) for _ in range(2000)])
    ranks = np.argsort(wrong.mean(axis=0).to_numpy())
    assert (np.argsort(draws, axis=1) == ranks).all(axis=1).mean() == pytest.approx(0.54, abs=0.03)
    assert f"{draws.std(axis=0).min():.3f} (the strongest) to {draws.std(axis=0).max():.3f}" in both
    ours = np.argsort([by_labels[llm, "sequence_posterior"][1] for llm in wrong])
    assert np.flatnonzero(ours != ranks).tolist() == [4, 5]
