"""The rules of the curation: each reason for which a question was discarded, as a check over questions with text."""

import re
from difflib import SequenceMatcher
from itertools import chain, combinations

from triviaqa_subset.matching import BRACKET, normalize_answer, plain, sha256

TIME = re.compile(
    r"\b(now|currently|current|today|present|this (?:year|month|week|day)|last (?:year|month|week)|recently|latest|"
    r"still|so far|to date|nowadays|has announced|at the end of)\b",
    re.I,
)
HOLDER = re.compile(
    r"\b(?:who(?: is| are|se)? (?:the )?(?:current|vice|president|prime|manager|presenter|host|leader|captain|owner|"
    r"coach|head|father-in-law)|(?:who|which \w+(?: \w+){0,4}) (?:hosts?|presents?|holds?|manages?|represents?|plays? "
    r"(?:for|their)|owns?|leads?|chairs?|advertises)|does .* represent|is the name of the)\b",
    re.I,
)
RECORD = re.compile(
    r"\b(?:is|are|was|were|has|have|holds?)\b.*\b(?:most|largest|longest|highest|tallest|biggest|greatest|oldest|"
    r"fastest|smallest|southerly|northerly|easterly|westerly|last|only|best-selling)\b",
    re.I | re.S,
)
# two questions, or a text that stops without an end
BROKEN = re.compile(r"\?.*\w.*\?|\.{3}$|[a-z]$")
OPEN = re.compile(
    r"^(?:name|give)\b|\bused for\b|\bmade with\b|\bknown for\b|\bpopular\b|\bwhat (?:word )?links\b|"
    r"\bassociated with\b|\blinked\b|\boverlook|\bperhaps\b|\bbetter known\b|\bor\b.*\bor\b",
    re.I,
)
# Words for which a question was discarded as offensive, and their like: the first 16 digits of their SHA-256.
OFFENSIVE = (
    "120f6e5b4ea32f65 158869a97379229b 16ea09fc78ca83ca 4b18aefe826adf55 8171c4ecae07283c "
    "83b5897518591c6c 8f5083e3e5c7dc89 94a877e2ce63725e 96c91fa847821d6e 9dc8866562847afa "
    "a2fb8bec14fca25e bd331fb1d24298f5 c3de533e9b7fe63b e7b98c6aa5b944e0 e84dde508a606a3e "
    "f59e28f8bb6499dd f9d0d9b18ae9033a "
)
LIKE = 0.7  # share of letters in common from which two spellings are one name


def asked(question, aliases):
    """Yield the aliases whose words the question has in this order: repeating it would be an exact match."""
    words = f" {plain(question)} "
    return (alias for alias in aliases if plain(alias) and f" {plain(alias)} " in words)


def stranger(question, aliases):
    """Return the aliases that have neither a word nor a spelling in common with most of the others."""
    groups = []
    for alias in aliases:
        near = [group for group in groups if any(_alike(alias, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([alias, *chain(*near)])
    groups.sort(key=lambda group: len(set(map(plain, group))), reverse=True)
    return sorted(chain(*groups[1:]))


def _alike(alias, other):
    texts = [plain(alias), plain(other)]
    words, other_words = ({word for word in text.split() if len(word) > 2} for text in texts)
    if words & other_words:
        return True
    letters, other_letters = (text.replace(" ", "") for text in texts)
    matcher = SequenceMatcher(None, letters, other_letters, autojunk=False)
    return matcher.real_quick_ratio() >= LIKE and matcher.ratio() >= LIKE


def further(question, aliases):
    """Return the aliases that are another one and further words: "economy of X", "X climate", and "city of X" too."""
    forms = {alias: plain(normalize_answer(alias)) for alias in aliases}
    known = set(forms.values()) - {""}
    return [alias for alias, form in forms.items() if _parts(form) & known]


def _parts(form):
    """Return all runs of words of a form but the whole."""
    words = form.split()
    places = range(len(words) + 1)
    return {" ".join(words[start:end]) for start, end in combinations(places, 2)} - {form}


def member(question, aliases):
    """Yield the aliases with another alias in their bracket, "A (X)", that are not an alias without it."""
    forms = {plain(alias) for alias in aliases if "(" not in alias}
    for alias in aliases:
        inside = [plain(text) for text in BRACKET.findall(alias)]
        if forms.intersection(inside) and plain(normalize_answer(alias)) not in forms:
            yield alias


def offensive(question, aliases):
    """Yield the texts that hold a word of `OFFENSIVE`."""
    for text in (question, *aliases):
        if any(sha256(word)[:16] in OFFENSIVE for word in plain(text).split()):
            yield text


def dissent(systems, llms=4):
    """Return the questions to which at least so many language models give the same answer, which counts as wrong."""
    wrong = systems[~systems["exact_match"] & ~systems["correct"]]
    shared = wrong.groupby(["question_id", "answer_sha256"])["llm"].nunique()
    return sorted({question_id for question_id, _ in shared[shared >= llms].index})


def _matching(pattern):
    return lambda question, aliases: pattern.findall(question.strip('" '))


CHECKS = {
    "asked": asked,
    "stranger": stranger,
    "further": further,
    "member": member,
    "time": _matching(TIME),
    "holder": _matching(HOLDER),
    "record": _matching(RECORD),
    "broken": _matching(BROKEN),
    "open": _matching(OPEN),
    "offensive": offensive,
}
