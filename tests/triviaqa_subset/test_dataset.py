"""The dataset as it is committed: it loads offline, its labels agree with each other, its card is true."""

import hashlib
import itertools
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Dataset, Features, List, Value, get_dataset_config_names, load_dataset
from huggingface_hub import DatasetCard
from scipy.stats import hypergeom, norm

from triviaqa_subset.build import build
from triviaqa_subset.card import card_tables, write_card
from triviaqa_subset.labels import CSV_COLUMNS, read_labels

FOLDER = "triviaqa_subset"
STRATUM = ClassLabel(names=["exact_match_all", "reviewed"])
CURATED = {"stratum": STRATUM, "weight": Value("float64"), "pool_position": Value("int32")}
FEATURES = {
    "curated": CURATED,
    "kept": CURATED,
    "pool": {
        "pool_positions": List(Value("int32")),
        "stratum": STRATUM,
        "decision": Value("string"),
        "reason": ClassLabel(names=["ok", "ambiguous", "time_dependent", "bad_gold", "offensive"]),
        "selected": Value("bool"),
        "in_curation_1": Value("bool"),
        "question_sha256": Value("string"),
        "question_start_sha256": Value("string"),
        "aliases_sha256": Value("string"),
    },
    "systems": {
        "llm": Value("string"),
        "method": ClassLabel(names=["sequence_posterior", "is_true", "verbalized"]),
        "exact_match": Value("bool"),
        "correct": Value("bool"),
        "answer_sha256": Value("string"),
    },
    "answers": {
        "answer_sha256": Value("string"),
        "full_sha256": Value("string"),
        "correct": Value("bool"),
        "debatable": Value("bool"),
        "cut": Value("bool"),
    },
}
SELECTED = {"exact_match_all": 256, "reviewed": 199}
ROWS = {"curated": 455, "kept": 926, "pool": 977, "systems": 20_517, "answers": 2683}
PAPER_NAMES = {
    "Qwen3.5-4B": "Qwen3.5 4B",
    "Qwen3.5-9B": "Qwen3.5 9B",
    "gemini-2.5-flash-lite": "Gemini 2.5 Flash Lite",
    "gemini-2.5-flash": "Gemini 2.5 Flash",
    "gemini-2.5-pro": "Gemini 2.5 Pro",
    "sequence_posterior": "Seq. Post.",
    "verbalized": "Verbalized",
}


def read(root, name):
    """Read a configuration, with the names instead of the numbers of its class labels."""
    table = pd.read_parquet(root / FOLDER / "data" / f"{name}.parquet")
    for column, feature in FEATURES[name].items():
        if isinstance(feature, ClassLabel):
            table[column] = feature.int2str(table[column].tolist())
    return table


@pytest.fixture(scope="module")
def curated(root):
    return read(root, "curated")


@pytest.fixture(scope="module")
def pool(root):
    return read(root, "pool")


@pytest.fixture(scope="module")
def systems(root):
    return read(root, "systems")


@pytest.fixture(scope="module")
def answers(root):
    return read(root, "answers")


@pytest.fixture(scope="module")
def card(root):
    return DatasetCard.load(root / FOLDER / "README.md")


# --- loading ----------------------------------------------------------------------------------------


def test_every_configuration_loads_offline_from_card_and_data_alone(root, tmp_path, monkeypatch):
    shutil.copytree(root / FOLDER / "data", tmp_path / "clone" / FOLDER / "data")
    shutil.copy(root / FOLDER / "README.md", tmp_path / "clone" / FOLDER)
    monkeypatch.chdir(tmp_path / "clone")
    cache = str(tmp_path / "cache")
    default = load_dataset(FOLDER, split="validation", cache_dir=cache)
    assert default.column_names == ["question_id", *FEATURES["curated"]]
    assert get_dataset_config_names(FOLDER) == list(FEATURES)
    for name in FEATURES:
        splits = load_dataset(FOLDER, name, cache_dir=cache)
        expected = Features({"question_id": Value("string")} | FEATURES[name])
        assert {split: (len(part), part.features) for split, part in splits.items()} == {
            "validation": (ROWS[name], expected)
        }


def test_the_parquet_files_carry_the_features_too(root):
    for name in FEATURES:
        loaded = Dataset.from_parquet(str(root / FOLDER / "data" / f"{name}.parquet"), keep_in_memory=True)
        assert loaded.features == Features({"question_id": Value("string")} | FEATURES[name])


def test_the_tables_have_page_indexes_as_the_hub_asks(root):
    for name in FEATURES:
        group = pq.read_metadata(root / FOLDER / "data" / f"{name}.parquet").row_group(0)
        columns = [group.column(i) for i in range(group.num_columns)]
        assert all(column.has_offset_index for column in columns)
        assert any(column.has_column_index for column in columns)


def test_the_checksums_are_those_of_the_files(root):
    data = root / FOLDER / "data"
    sums = dict(reversed(line.split("  ")) for line in (data / "SHA256SUMS").read_text().splitlines())
    assert sums == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in data.glob("*.parquet")}


def test_the_committed_data_is_what_the_build_makes_now(root, tmp_path, curated, pool, systems, answers):
    build(tmp_path / FOLDER, without_text=True)
    for name, committed in {"curated": curated, "pool": pool, "systems": systems, "answers": answers}.items():
        pd.testing.assert_frame_equal(read(tmp_path, name), committed, check_exact=True)
    made, kept = (DatasetCard.load(folder / FOLDER / "README.md") for folder in (tmp_path, root))
    assert made.text == kept.text
    sizes = re.compile(r"'(download_size|dataset_size|num_bytes)': \d+")  # these may differ between versions of pyarrow
    assert sizes.sub("", str(made.data.to_dict())) == sizes.sub("", str(kept.data.to_dict()))


def test_no_question_or_answer_text_is_in_the_project(root, shared):
    rows = [json.loads(line) for line in (shared / "triviaqa" / "pool_text.jsonl").read_text().splitlines()]
    files = [path for part in (FOLDER, "tests") for path in (root / part).rglob("*") if path.is_file()]
    everything = b"\n".join(path.read_bytes() for path in files if path.suffix != ".pyc")
    assert [row["question_id"] for row in rows if row["question"].removesuffix("...").encode() in everything] == []
    long = {a["answer"] for row in rows for a in row["answers"] if len(a["answer"]) > 25}
    assert [text for text in long if text.encode() in everything] == []


# --- labels that must agree with each other ---------------------------------------------------------


LABELS = {"correct": ("1", "0"), "debatable": ("0", "1"), "incorrect": ("0", "0")}


def curation_1(root):
    """The earlier curation: ours, with the errata undone."""
    folder = root / FOLDER / "curation"
    tables = {name: pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False) for name in CSV_COLUMNS}
    questions, answers, systems, errata = (tables[name] for name in ("questions", "answers", "systems", "errata"))
    for own, key, column, before, _, _ in errata.itertuples(index=False):
        if column == "reason":
            row = questions["question_id"] == own
            questions.loc[row, ["reason", "decision"]] = before, "keep" if before == "ok" else "discard"
        else:
            row = (answers["question_id"] == own) & (answers["answer_sha256"] == key)
            answers.loc[row, ["correct", "debatable"]] = LABELS[before]
        assert row.sum() == 1
    label = answers.set_index(["question_id", "answer_sha256"])["correct"]
    judged = systems["exact_match"] == "0"
    keys = pd.MultiIndex.from_frame(systems.loc[judged, ["question_id", "answer_sha256"]])
    systems.loc[judged, "correct"] = label.loc[keys].to_numpy()
    questions["selected"] = questions["in_curation_1"]
    return tables


def test_the_curation_is_the_one_published_with_its_errata(root, shared):
    for name, ours in curation_1(root).items():
        if name != "errata":
            theirs = pd.read_csv(shared / "triviaqa" / f"{name}.csv", dtype=str, keep_default_na=False)
            same = [column for column in theirs if column != "weight"]
            pd.testing.assert_frame_equal(ours[same], theirs[same])


def test_curation_1_selects_by_the_same_rule(root):
    questions = curation_1(root)["questions"]
    kept = questions[questions["decision"] == "keep"]
    chosen = [kept[kept["stratum"] == s].head(n) for s, n in SELECTED.items()]
    assert set(pd.concat(chosen)["question_id"]) == set(questions["question_id"][questions["in_curation_1"] == "1"])


def test_the_subset_is_the_first_kept_of_each_stratum_in_pool_order(curated, pool):
    first = [positions[0] for positions in pool["pool_positions"]]
    assert first == sorted(first)
    kept = pool[pool["decision"] == "keep"]
    chosen = [kept[kept["stratum"] == s].head(n) for s, n in SELECTED.items()]
    assert curated["question_id"].tolist() == pd.concat(chosen).sort_index()["question_id"].tolist()
    assert curated["question_id"].tolist() == pool["question_id"][pool["selected"]].tolist()
    assert curated["pool_position"].is_monotonic_increasing
    assert curated["question_id"].is_unique
    assert pool["question_id"].is_unique


def test_the_pool_has_977_questions_in_1000_draws_and_ten_without_hash(pool, curated):
    positions = [position for positions in pool["pool_positions"] for position in positions]
    assert sorted(positions) == list(range(1000))
    assert (pool["pool_positions"].str.len() == 2).sum() == 23
    assert pool["question_sha256"].isna().sum() == 10  # text cut off: null, and not another question's hash
    assert pool["question_sha256"].dropna().str.fullmatch("[0-9a-f]{64}").all()
    assert pool["question_sha256"].dropna().is_unique
    assert pool["question_sha256"][pool["selected"]].isna().sum() == 6


def test_the_weights_give_the_strata_their_share_of_the_kept_pool(curated, pool):
    assert curated["weight"].mean() == pytest.approx(1, abs=1e-12)
    kept = pool[pool["decision"] == "keep"]["stratum"]
    for stratum in STRATUM.names:
        share = curated["weight"][curated["stratum"] == stratum].sum() / len(curated)
        assert share == pytest.approx((kept == stratum).mean(), abs=1e-12)


def test_every_system_has_every_question_once(systems, pool):
    assert len(systems.drop_duplicates(["question_id", "llm", "method"])) == 977 * 21 == len(systems)
    assert systems["llm"].nunique() == 7
    assert set(systems["question_id"]) == set(pool["question_id"])


def test_systems_and_label_bank_agree(systems, answers, pool):
    assert systems["correct"][systems["exact_match"]].all()
    other = systems[~systems["exact_match"]]
    assert set(other["question_id"]) == set(pool["question_id"][pool["stratum"] == "reviewed"])
    assert set(other["question_id"]) == set(answers["question_id"])
    for label in (True, False):
        said = set(other["question_id"][other["correct"] == label])
        assert said == set(answers["question_id"][answers["correct"] == label])
    assert (answers.groupby("question_id").size() <= other.groupby("question_id").size()).all()


def test_is_true_asks_about_the_answer_of_the_sequence_posterior(systems):
    wide = systems.pivot(index=["question_id", "llm"], columns="method", values=["exact_match", "correct"])
    for column in ("exact_match", "correct"):
        assert (wide[column, "is_true"] == wide[column, "sequence_posterior"]).all()


# --- the card ---------------------------------------------------------------------------------------


def test_the_metadata_of_the_card_are_the_data(card, root):
    data = card.data.to_dict()
    assert data["license"] == "apache-2.0"
    assert [config["config_name"] for config in data["configs"]] == list(FEATURES)
    assert [config["config_name"] for config in data["configs"] if config.get("default")] == ["curated"]
    infos = {info["config_name"]: info for info in data["dataset_info"]}
    for name in FEATURES:
        features = Features._from_yaml_list(infos[name]["features"])
        assert features == Features({"question_id": Value("string")} | FEATURES[name])
        assert infos[name]["splits"][0]["num_examples"] == ROWS[name]
        assert infos[name]["download_size"] == (root / FOLDER / "data" / f"{name}.parquet").stat().st_size


@pytest.mark.e2e
def test_the_sizes_of_the_card_are_those_that_datasets_writes(root, tmp_path, offline):
    copy = tmp_path / "copy"
    shutil.copytree(root / FOLDER / "data", copy / "data")
    shutil.copy(root / FOLDER / "README.md", copy)
    command = [
        sys.executable,
        "-m",
        "datasets.commands.datasets_cli",
        "test",
        str(copy),
        "--all_configs",
        "--save_info",
    ]
    done = subprocess.run(command, env=offline, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Test successful" in done.stdout + done.stderr
    assert (
        DatasetCard.load(copy / "README.md").data.to_dict()
        == DatasetCard.load(root / FOLDER / "README.md").data.to_dict()
    )


def test_the_python_of_the_card_runs_as_written(card, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", card.text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    with pytest.warns(UserWarning, match="no column `answer`"):
        exec("\n".join(blocks), {})
    printed = [line for block in blocks for line in re.findall(r"print\(.*\)  +# (.*)", block)]
    assert printed == capsys.readouterr().out.splitlines()[: len(printed)]
    assert len(printed) == 3


def test_the_links_within_the_card_lead_somewhere(card):
    headings = {
        re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)", card.text, re.M)
    }
    targets = set(re.findall(r"\]\(#(.*?)\)", card.text))
    assert targets
    assert targets <= headings


def test_the_columns_of_the_card_are_those_of_the_data(card):
    text = card.text[card.text.index("## Columns") : card.text.index("## Grade")]
    named = set(itertools.chain(*(cell.split(", ") for cell in re.findall(r"^\| (.*?) \|", text, re.M)))) - {"column"}
    assert named == {"question_id", "question", "answer"}.union(*FEATURES.values())


@pytest.fixture(scope="module")
def rates(systems, curated, pool):
    """Error rates from the data alone, per system: counts of errors divided by counts of questions."""
    strata = {s: set(curated["question_id"][curated["stratum"] == s]) for s in STRATUM.names}
    kept = set(pool["question_id"][pool["decision"] == "keep"])
    shares = (pool["stratum"][pool["decision"] == "keep"]).value_counts(normalize=True)
    rows = {}
    for system, answered in systems.groupby(["llm", "method"]):
        for column in ("correct", "exact_match"):
            wrong = set(answered["question_id"][~answered[column]])
            errors = {s: len(wrong & ids) for s, ids in strata.items()}
            stratified = sum(shares[s] * errors[s] / len(ids) for s, ids in strata.items())
            rows[(*system, column)] = (sum(errors.values()) / 455, stratified, len(wrong & kept) / len(kept))
    return rows


@pytest.fixture(scope="module")
def printed(card):
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", card.text, re.M)]
    return {(row[0], row[1]): row[2:] for row in rows if len(row) == 9 and re.fullmatch(r"0\.\d{3}", row[2])}


def test_the_error_rates_of_the_card_are_those_of_the_data(printed, rates):
    assert set(printed) == {system[:2] for system in rates if system[1] != "is_true"}
    for system, row in printed.items():
        labels, exact = rates[*system, "correct"], rates[*system, "exact_match"]
        assert [row[i] for i in (0, 1, 2, 4, 5)] == [f"{rate:.3f}" for rate in (*labels, *exact[:2])]


def test_the_error_rates_of_the_paper_are_the_papers(printed, shared):
    paper = pd.read_csv(shared / "paper" / "tables" / "llm_vs_human_labels.csv").set_index(["llm", "method"])
    for (llm, method), row in printed.items():
        theirs = paper.loc[(PAPER_NAMES.get(llm, llm), PAPER_NAMES[method])]
        assert [row[3], row[6]] == [f"{theirs[name]:.3f}" for name in ("error_rate_human", "error_rate_llm")]


def test_what_the_card_says_of_the_error_rates_holds(rates, card, curated, pool):
    text = " ".join(card.text.split())
    labels = {system[:2]: rate for system, rate in rates.items() if system[2] == "correct"}
    exact = {system[:2]: rate for system, rate in rates.items() if system[2] == "exact_match"}
    ratios = [subset / of_pool for subset, _, of_pool in labels.values()]
    easy, hard = (curated["weight"][curated["stratum"] == stratum].iloc[0] for stratum in STRATUM.names)
    kept = pool["stratum"][pool["decision"] == "keep"]
    missed = max(abs(weighted - of_pool) for _, weighted, of_pool in labels.values())
    for said in (
        f"({1 / hard:.2f} by design; {min(ratios):.2f} to {max(ratios):.2f} for the 21 systems)",
        f"is {hard:.3f} times the unweighted one (1 / {hard:.3f} = {1 / hard:.2f})",
        f"each of them counts {easy:.3f}",
        f"since 199 questions represent {(kept == 'reviewed').sum()}; ",
        f"here it misses the pool's value by {missed:.3f} at most",
        f"make up {25600 / 455:.0f} % of it, but only {100 * (kept == 'exact_match_all').mean():.0f} % of the",
    ):
        assert said in text
    assert (round(min(ratios), 2), round(max(ratios), 2)) == (0.53, 0.76)
    for subset, weighted, _ in labels.values():
        assert weighted / subset == pytest.approx((664 / 926) / (199 / 455))
    gaps = [exact[system][0] - labels[system][0] for system in labels]
    assert f"By exact match error rates are {min(gaps):.2f} to {max(gaps):.2f} higher" in text
    pairs = list(itertools.combinations([system for system in labels if system[1] != "is_true"], 2))
    signs = [[np.sign(round(455 * (of[a][0] - of[b][0]))) for of in (labels, exact)] for a, b in pairs]
    assert len(pairs) == 91
    assert sum(a * b < 0 for a, b in signs) == 2
    assert sum(a * b == 0 and a != b for a, b in signs) == 4
    assert "two change their order, and four become or cease to be ties" in text


def test_the_numbers_of_the_card_are_those_of_the_data(card, pool, answers):
    text = " ".join(card.text.split())
    reasons, strata = pool["reason"].value_counts(), pool["stratum"].value_counts()
    kept = pool[pool["decision"] == "keep"]["stratum"].value_counts()
    for said in (
        f"{kept.sum()} are kept; {977 - kept.sum()} are discarded: {reasons['ambiguous']} ambiguous or broken, "
        f"{reasons['bad_gold']} with a wrong or nonsensical gold answer, {reasons['time_dependent']} time-dependent, "
        f"{reasons['offensive']} offensive.",
        f"{strata['exact_match_all']} of 977 (27 %)",
        f"(N_h / N) / (n_h / n), where N_h of the N = {kept.sum()} kept",
        *(f"| {s} | {kept[s]} | {n} | {kept[s] / kept.sum() / (n / 455):.6f} |" for s, n in SELECTED.items()),
        f"judged correct ({answers['correct'].sum()} answers)",
        f"might accept it ({answers['debatable'].sum()} answers)",
        f"The {reasons['bad_gold']} questions where a wrong gold answer or alias was noticed",
        f"`kept`, {kept.sum()} rows",
        f"hash is of the answer's first 200 characters, which alone were available ({answers['cut'].sum()} answers)",
    ):
        assert said in text


def section(card, title):
    return card.text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def cells(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", text, re.M)]


def test_the_table_of_discards_is_made_of_the_data(card, root, systems, pool):
    text = card.text.split("<!-- discards: made by the build -->\n")[1].split("\n<!-- end of discards -->")[0]
    assert text == card_tables(read_labels(root / FOLDER / "curation"))["discards"]
    rows = cells(text)[2:]
    assert len(rows) == 14
    reviewed = set(pool["question_id"][pool["stratum"] == "reviewed"])
    gone = set(pool["question_id"][pool["decision"] == "discard"])
    answers_of = {(r.llm, r.method): set() for r in systems.drop_duplicates(["llm", "method"]).itertuples()}
    for row in systems[~systems["correct"]].itertuples():
        answers_of[row.llm, row.method].add(row.question_id)
    for llm, method, *printed in rows:
        wrong = answers_of[llm, method]
        right = reviewed - wrong
        expected = (
            len(wrong & gone) / len(wrong),
            len(right & gone) / len(right),
            len(wrong - gone) / 926,
            len(wrong) / 977,
        )
        assert printed == [f"{value:.3f}" for value in expected]
    assert float(rows[-1][5]) - float(rows[-1][4]) > 0.5 * float(rows[-1][4])


def test_the_table_of_unjudged_answers_is_made_of_the_data(card, root, systems, curated):
    text = card.text.split("<!-- unjudged: made by the build -->\n")[1].split("\n<!-- end of unjudged -->")[0]
    assert text == card_tables(read_labels(root / FOLDER / "curation"))["unjudged"]
    weight = curated.set_index("question_id")["weight"]
    said, divided = {}, []
    for row in systems[~systems["exact_match"]].itertuples():
        said.setdefault((row.question_id, row.answer_sha256), set()).add(row.llm)
    rows = cells(text)[2:]
    assert len(rows) == 14
    for llm, method, *printed in rows:
        own = systems[
            (systems["llm"] == llm) & (systems["method"] == method) & systems["question_id"].isin(weight.index)
        ]
        of = [(row, weight[row.question_id] / 455) for row in own.itertuples()]
        left = [(r, w) for r, w in of if not r.exact_match and said[r.question_id, r.answer_sha256] == {llm}]
        wrong, unjudged = sum(w for r, w in of if not r.correct), sum(w for _, w in left)
        open_wrong = sum(w for r, w in left if not r.correct)
        low, high = wrong - open_wrong, wrong + unjudged - open_wrong
        expected = [wrong, unjudged, 1 - open_wrong / unjudged, low / (1 - unjudged), high]
        assert printed == [*(f"{abs(value):.3f}" for value in expected), f"{low:.3f} to {high:.3f}"]
        assert high - wrong < 0.0365
        divided.append(wrong / expected[3])
    assert float(rows[-1][6]) > 2 * float(rows[-1][2])
    assert f"divides the error rate by {min(divided):.1f} to {max(divided):.1f}" in " ".join(card.text.split())


def test_a_card_without_a_place_for_its_table_is_refused(tmp_path, root):
    Dataset.from_dict({"a": [1]}).to_parquet(tmp_path / "curated.parquet")
    tables = {"curated": Dataset.from_dict({"a": [1]})}
    with pytest.raises(ValueError, match=r"^the card must have one place for other, between <!-- other: .*; got 0\.$"):
        write_card(root / FOLDER / "README.md", tmp_path / "c.md", tables, tmp_path, made={"other": "|"})


def test_the_audit_of_the_card_adds_up(card, root):
    first = curation_1(root)["answers"]
    first["label"] = np.where(
        first["correct"] == "1", "correct", np.where(first["debatable"] == "1", "debatable", "incorrect")
    )
    rows = [row for row in cells(section(card, "How it was made")) if len(row) == 5 and row[1].isdigit()]
    sizes = [len(found) for found in (first[first["label"] == kind] for kind in ("correct", "incorrect", "debatable"))]
    assert [int(row[1]) for row in rows] == sizes
    assert sum(int(row[2]) for row in rows) == 360
    rng = np.random.default_rng(0)
    for column, said in ((3, "2.0 % [1.5, 3.2]"), (4, "0.3 % [0.15, 1.4]")):
        counts = [(int(size), int(read), int(row[column])) for row in rows for size, read in [row[1:3]]]
        share = sum(size * k / n for size, n, k in counts) / 2683
        draws = sum(size * rng.beta(k + 0.5, n - k + 0.5, 200_000) for size, n, k in counts) / 2683
        numbers = [share, *np.quantile(draws, [0.025, 0.975])]
        printed = [float(number) for number in re.findall(r"[0-9.]+", said)]
        assert said in " ".join(card.text.split())
        for value, number in zip(numbers, printed, strict=True):
            assert 100 * value == pytest.approx(number, abs=0.051)
    debatable = 54 * 20 / 30
    assert debatable / (debatable + 381 * 4 / 90) == pytest.approx(2 / 3, abs=0.02)


def test_the_detectable_differences_of_the_card(card, systems, pool):
    rows = {row[0]: row[1] for row in cells(section(card, "How much it can tell"))[2:]}
    wide = systems[systems["method"] == "sequence_posterior"].pivot(
        index="question_id", columns="llm", values="correct"
    )
    pool = pool.set_index("question_id").loc[wide.index]
    kept, selected = pool["decision"] == "keep", pool["selected"]
    by_design = {s: (kept & (pool["stratum"] == s)).sum() / 926 for s in STRATUM.names}
    as_drawn = {s: (selected & (pool["stratum"] == s)).sum() / 455 for s in STRATUM.names}
    power = norm.ppf(0.975) + norm.ppf(0.8)
    for name, chosen, shares in (
        ("455, weighted", selected, by_design),
        ("455, unweighted", selected, as_drawn),
        ("all 926 kept", kept, by_design),
    ):
        found = []
        for a, b in itertools.combinations(wide, 2):
            difference = wide[a].astype(float) - wide[b].astype(float)
            parts = [(share, difference[chosen & (pool["stratum"] == s)]) for s, share in shares.items()]
            found.append(power * np.sqrt(sum(share**2 * part.var() / len(part) for share, part in parts)))
        assert rows[name] == f"{np.median(found):.3f} ({min(found):.3f} to {max(found):.3f})"


def test_the_correlations_of_the_card(card, systems, curated):
    own = systems[(systems["method"] == "sequence_posterior") & systems["question_id"].isin(curated["question_id"])]
    correct = own.pivot(index="question_id", columns="llm", values="correct").astype(float)
    found = [correct[a].corr(correct[b]) for a, b in itertools.combinations(correct, 2)]
    said = f"(between {min(found):.2f} and {max(found):.2f} for the correctness of these 21 pairs, "
    said += f"median {np.median(found):.2f})"
    assert said in " ".join(card.text.split())


def test_what_the_card_says_of_the_papers_rates_holds(printed, systems, pool):
    paper = sorted(float(row[3]) for (_, method), row in printed.items() if method == "sequence_posterior")
    assert sum(b - a < 0.045 for a, b in itertools.pairwise(paper)) == 3
    kept = set(pool["question_id"][(pool["decision"] == "keep") & (pool["stratum"] == "reviewed")])
    for (llm, method), row in printed.items():
        own = systems[(systems["llm"] == llm) & (systems["method"] == method) & ~systems["correct"]]
        at_least = hypergeom.sf(round(455 * float(row[3])) - 1, 664, len(kept & set(own["question_id"])), 199)
        assert (at_least < 0.005) == llm.startswith("gemini")


def test_the_order_of_the_llms_is_the_papers_but_for_two(printed):
    for method, swapped in (("sequence_posterior", []), ("verbalized", ["Ministral-3-8B-Instruct-2512", "Qwen3.5-9B"])):
        rows = {llm: (float(row[0]), float(row[3])) for (llm, own), row in printed.items() if own == method}
        ours, theirs = (sorted(rows, key=lambda llm, k=k: rows[llm][k]) for k in (0, 1))
        assert sorted(a for a, b in zip(ours, theirs, strict=True) if a != b) == swapped


def test_what_the_card_says_of_ministral_is_the_papers(card, printed):
    ranks = {}
    for method in ("sequence_posterior", "verbalized"):
        rows = {llm: (float(row[3]), float(row[6])) for (llm, own), row in printed.items() if own == method}
        name = "Ministral-3-8B-Instruct-2512"
        ranks[method] = [1 + sum(row[k] < rows[name][k] for row in rows.values()) for k in (0, 1)]
    assert ranks["sequence_posterior"] == [5, 7]
    assert ranks["verbalized"][1] == 6
    said = (
        "with `sequence_posterior` Ministral falls from fifth to last among its seven LLMs, with `verbalized` to sixth"
    )
    assert said in " ".join(card.text.split())


def test_the_errata_are_those_of_the_curation(card, root, pool, curated):
    text = card.text.split("<!-- errata: made by the build -->\n")[1].split("\n<!-- end of errata -->")[0]
    labels = read_labels(root / FOLDER / "curation")
    assert text == card_tables(labels)["errata"]
    state, errata = pool.set_index("question_id"), labels.errata
    rows = cells(text)[2:]
    assert {own for row in rows for own in row[0].split(", ")} == set(errata["question_id"])
    for ids, before, after, _ in rows:
        for own in ids.split(", "):
            if not before.startswith("an answer"):
                now = state.loc[own]
                shown = (
                    "selected"
                    if now["selected"]
                    else "kept"
                    if now["reason"] == "ok"
                    else f"discarded: {now['reason']}"
                )
                assert after.removesuffix(", left") == shown
                assert (before == "selected") == now["in_curation_1"]
            assert after.endswith(", left") == (before == after.removesuffix(", left"))
    changed = errata[errata["before"] != errata["after"]]
    named = section(card, "How it was made")
    assert (changed["column"] == "label").sum() == 7
    assert (changed["column"] == "reason").sum() == 9
    assert "changed seven of these labels and nine\ndecisions" in named
    assert not set(changed["question_id"][changed["column"] == "label"]) & set(curated["question_id"])
    assert (pool["selected"] & ~pool["in_curation_1"]).sum() == (pool["in_curation_1"] & ~pool["selected"]).sum() == 5
    assert "five of the 455 questions differ" in " ".join(card.text.split())
    assert (state.loc[["sfq_12368", "odql_5737"], "reason"] == ["time_dependent", "offensive"]).all()


def test_what_the_data_refute_is_gone(card):
    text = " ".join(card.text.split())
    for sentence in ("agree likewise", "another 199 questions were reviewed", "more lenient", "may well be chance"):
        assert sentence not in text


def test_the_example_row_is_the_first(card, root):
    (example,) = re.findall(r"^```json\n(.*?)\n```", card.text, re.M)
    first = read(root, "curated").iloc[0].to_dict()
    assert json.loads(example) == first


def test_the_answers_that_are_cut(card, shared, answers):
    lines = (shared / "triviaqa" / "pool_text.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [(row["question_id"], answer) for row in map(json.loads, lines) for answer in row["answers"]]
    cut = {
        (own, hashlib.sha256(answer["normalized"].encode()).hexdigest())
        for own, answer in rows
        if len(answer["answer"]) == 203 and answer["answer"].endswith("...")
    }
    marked = answers[answers["cut"]]
    assert set(zip(marked["question_id"], marked["answer_sha256"], strict=True)) == cut
    assert "33 answers of the bank are known only up to their 200th character" in " ".join(card.text.split())
    assert len(cut) == 33


def test_the_configuration_kept_is_the_pool_without_the_discarded(root, pool, curated, answers, systems):
    kept = read(root, "kept")
    expected = pool[pool["decision"] == "keep"]
    assert kept["question_id"].tolist() == expected["question_id"].tolist()
    assert kept["stratum"].tolist() == expected["stratum"].tolist()
    assert (kept["weight"] == 1).all()
    assert set(curated["question_id"]) <= set(kept["question_id"])
    other = systems[~systems["exact_match"] & systems["question_id"].isin(kept["question_id"])]
    assert set(other["question_id"]) <= set(answers["question_id"])
