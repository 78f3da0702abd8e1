"""When two answers count as the same text: the normal forms, the hash, the exact match; and what is no answer."""

import hashlib
import json
import re
import string
import unicodedata
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import TypedDict

RULES = ("equality", "containment")
KINDS = ("normal", "official", "signed")  # forms of gold aliases
LONGEST = 40  # words of an alias that an answer may contain
BRACKET = re.compile(r"\s*\(([^)]*)\)")  # what the authors' normal form deletes
MARK = re.compile(  # a sign of doubt or denial, letters struck through, an empty bracket, a face, or a minus
    r"[?\u203d\u00bf\u055e\u061f\u2e2e~\u2248\u2260\u00ac\u2717\u2718\u274c\u0335-\u0338]|!=|(?<!\w)!(?=\w)"
    r"|^\s*!|\([\s.\u2026]*\)|%(?=\s*$)"
    r"|(?<!\S)[:;]-?[/\\()|](?!\S)|(?<![\w.)])[-\u2212\u2013](?=\.?\d)"
)
GLOSS = re.compile(  # what a bracket may hold without being a doubt: the kind of thing that was named, or years
    r"(?:(?:the|a|an|of|in|by|born|died|active|c|ca|circa|film|movie|novel|book|play|poem|song|single|album|band|group|"
    r"singer|musician|composer|actor|actress|comedian|author|writer|poet|playwright|painter|artist|footballer|"
    r"boxer|cricketer|politician|scientist|king|queen|tv|series|show|musical|opera|city|town|country|state|county|river|island|"
    r"mountain|animal|plant|fish|bird|element|\d{4}s?)\b[\s,;:./&\u2013-]*)+",
    re.I,
)
QUOTES = "\u2018\u2019\u00b4\u201c\u201d"  # curly ones, and the acute accent
PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + QUOTES, " "))
LETTERS = str.maketrans(
    {"\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00e6": "ae", "\u0153": "oe", "\u00df": "ss"}
)
ACCENTS = re.compile("[\u0300-\u036f]")
SYMBOLS = "#$%&+<=>@^|~"  # which may be an answer
SILENCE = (
    string.whitespace
    + "".join(set(string.punctuation) - set(SYMBOLS))
    + QUOTES
    + "\u2026\u2013\u2014"
)

# What dresses an answer without changing it: markup, footnotes, quotes, brackets around it all, and frames.
SUPERSCRIPT = re.compile(
    "[\u2122\u00ae\u00a9]|(?<=[^\\W\\d_]{3})[\u00b9\u00b2\u00b3\u2070-\u2079]+$"
)
FOOTNOTE = re.compile(r"<sup>\s*\[?\d+\]?\s*</sup>|\[\^?\d{1,3}\]|\u3010\d+[^\u3011]*\u3011")
TAG = re.compile(
    r"</?(?:a|(?:final[_-]?)?answer|b|big|br|code|div|em|font|i|mark|p|small|span|strong|sub|sup|tt|u)"
    r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))*\s*/?>",
    re.I,
)
# The name of a tag around reasoning, as <think>, <seed:think>, <thinking_process>.
REASONING = r"(?:[^\W_]+[:_])*(?:think|thinking|thoughts?|reasoning|scratchpad|reflection|analysis)(?:_[^\W_]+)*"
THOUGHTS = re.compile(
    rf"\A.*(?:</{REASONING}>|\[/THINK\]|\u25c1/think\u25b7|<\|end_of_thought\|>"
    r"|<\|channel\|>final(?:\s[^<]*)?<\|message\|>)",
    re.I | re.S,
)
SPECIAL_TOKENS = re.compile(
    r"(?<!\s)(?:\s*<(?:\|[\w-]+\||eo[a-z]|end_of_\w+|/s)>)+\Z"
    r"|\A(?:\s*<(?:\|(?:begin_of_text|startoftext)\||bos)>)+"
)
STRIKE = re.compile("<s>", re.I)  # whose end "</s>" is
LINK = re.compile(r"\[([^\[\]]+)\]\(https?://[^\s()]*\)")
TABLE = re.compile(  # of one cell, below or beside the word "answer"
    r"\A\s*\|\s*(?:final\s+)?answer\s*\|(?:\s*\n\s*\|\s*:?-+:?\s*\|\s*\n\s*\|)?([^|\n]+)\|\s*\Z",
    re.I,
)
CODE_FENCES = re.compile(r"\A\s*```\w*\s|(?<!\s)\s*```\s*\Z")
HEIGHT = re.compile(  # a mark of feet or inches closes no quotation
    r"\A([^'\"\u2018-\u201f]*\d)['\"\u2019\u201d](?=[\s.]*\Z)"
)
# A stated probability, however low: labelled, or with a point or a percent sign, which an answer rarely ends with.
STATED = re.compile(
    r"(?<=\S)\s*[\n,;(\u2014]\s*(?:(?:my\s+)?(?:confidence|probability|certainty)\s*[:=]?\s*"
    r"(?:(?:\d*\.)?\d+\s*%?|(?:very\s+)?(?:high|medium|moderate|low))|(?:very\s+)?(?:high|medium|moderate|low)\s+confidence"
    r"|(?:I['\u2019]m\s+)?(?:(?:\d*\.)?\d+\s*%\s*(?:confident|confidence|sure|certain)?|0?\.\d+))[\s).]*\Z",
    re.I,
)
STATED_FIRST = re.compile(
    r"\A\s*(?:confidence|probability|certainty)\s*[:=]\s*(?:\d*\.)?\d+\s*%?\s*\n", re.I
)
NUMERAL = re.compile(  # digits, and around them what says nothing of a number
    r"[\s(*_]*(?:the\s+)*\d+(?:,?\s+\d+|,\d{3})*[\s.,!)*_]*", re.I
)
SIGNED = re.compile(r"[-\u2010-\u2015\u2212<>$\u00a3\u20ac+/:]\s*\d|\d\s*[%<>+]")
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
TEX = re.compile(
    r"\\(?:boxed|fbox|emph|underline|(?:text|math)(?:bf|it|rm|sf|tt)?)\s*\{([^{}]*)\}|\\[()\[\]]"
)
QUOTED = re.compile(r"^(?:>\s*)+(?!\d)|^(?:>\s+)+")  # ">5" is no quotation
TICKS = (  # and other faces and signs of someone who is content
    "\u2705\u2714\ufe0f\u2728\u2b50\U0001f389\U0001f38a\U0001f3c6\U0001f44d\U0001f44f\U0001f4af\U0001f600"
    "\U0001f603\U0001f604\U0001f60a\U0001f60e\U0001f642"
)
STARTS = (
    string.whitespace
    + QUOTES
    + TICKS
    + "\"'`*_.,;:\u00ab\u00bb\u2039\u203a\u201e\u201a\u300c\u300d\u300e\u300f\u2026"
)
ENDS = STARTS + "!"  # in front, this one is a "not"
LEAD = string.whitespace + "#\u2022\u00b7\u2192" + TICKS
PAIRS = ("()", "[]", "{}", "$$", "\u300a\u300b")
# A view that is put before or after what it is of.
VIEW = r"""
    I(?:\s+(?:think|believe|guess)|(?:['\u2019]d|\s+would)\s+(?:say|guess|go\s+with)
       |(?:['\u2019]m|\s+am)\s+(?:(?:very|quite|pretty|fairly|reasonably|absolutely|\d+\s*%)\s+)?(?:sure|certain|confident))
"""
FRAME = re.compile(
    rf"""
    (?:(?:sure|certainly|absolutely|of\ course|yes|well|ok|okay|easy|so|thus|therefore|hence|(?:good|great)\ question)\b
       (?:[\s,.!:;]|[\u2013\u2014-](?!\.?\d))+)*
    (?:{VIEW}(?:\s+that)?\b[\s,:]+|\d{{1,2}}[.)]\s+)?
    (?:
        (?:here(?:['\u2019]s|\s+is)\s+)?(?:(?:the|my|this|final|correct|right|best|short)\s+)*
        (?:answer|ans|response|solution|result|guess)(?:\s+to\s+(?:the|this|your)\s+question|\s*\(\d{{1,3}}\s*%\))?
        ["'*_]*\s*(?:[:=\n]|-+>?(?!\.?\d)|\u2192|[\u2013\u2014](?!\.?\d)|(?:is|was|would\s+be)\b)[\s:"'*_]*
      | (?:a|ai|assistant)["'*_]*\s*:
      | [-*\u2013]\s+
    )?
    (?:(?:it|this|that|he|she|they|these|those)(?:['\u2019](?:s|re)|\s+(?:is|was|are|were|would\s+be))\s+
       (?:(?:called|named|known\s+as)\s+)?)?
    (?P<inside>.+?)
    (?:[\s,;.\u2013\u2014-]+(?:of\ course|definitely|certainly|for\ sure)|\s*,\s*{VIEW}
      |\s+(?:is|was|would\ be)\s+the\s+(?:(?:final|correct|right)\s+)*answer)?
    """,
    re.I | re.X | re.S,
)

# A refusal says that there is no answer, and has no word that a refusal does not have: it names nothing.
NOT = (
    "(?:do not|dont|does not|doesnt|did not|didnt|cannot|can not|cant|could not|couldnt|will not|wont|am not|im not|"
    "am unable|im unable|unable|not able|not possible|impossible)"
)
REFUSAL = re.compile(
    rf"{NOT}(?: \w+){{0,4}}? (?:know|recall|remember|say|tell|answer|respond|help|assist|provide|give|determine|find|"
    r"identify|verify|confirm|comply|sure|certain|have|offer|aware|familiar|guess|cover)"
    r"|(?:have|has|is|there is|ive|i|^) ?no (?:real |good )?(?:idea|clue|answer|information|knowledge)"
    r"|(?:not|isnt|insufficient|lacks?) (?:the |enough |sufficient )?(?:information|context|knowledge|data)"
    r"|(?:information|data) (?:is )?not available"
    r"|(?:cannot|can not|cant|could not|couldnt) be (?:determined|answered|known|identified|verified|established)"
    r"|(?:answer|it|this|that) is (?:not known|unknown|unclear|uncertain|unanswerable)"
    r"|(?:decline|refuse|rather not|prefer not)|^not (?:sure|certain|known)|^unsure|no (?:one|body) knows|who knows"
    r"|^(?:idk|dunno|unknown|not known|none known|no answer|n a|unanswerable|no comment)(?: sorry)?$"
)
REFUSAL_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a able about access accurate accurately afraid ai all am an and answer answerable answered any apologies
        apologise apologize artificial as assist assistance assistant at available aware be been body but can
        cannot cant certain certainty clue comment comply confidence confident confidently confirm context
        correct correctly could cover couldnt currently d data database decline definitely definitive definitively
        determine determined did didnt do does doesnt dont dunno enough established exact exactly familiar find
        for from further give given guess has have help here honest honestly i id idea identified identify idk im
        impossible in information insufficient intelligence is isnt it ive just knew know knowledge known knows
        lack lacks language large llm me model more must my n no none not of offer on one or particular passage
        personal personally please possible prefer provide provided question questions rather really recall
        refuse regarding reliable reliably remember reply request respond response say simply so sorry specific
        specifically subject sufficient sure tell text that the there this to too topic training truly truthfully
        unable unanswerable uncertain unclear unfortunately unknown unsure verified verify very was well who will
        with without wont would yet you your""",
    )
)


class Gold(TypedDict):
    """The gold answer of a question; `value` is None where a source has aliases only."""

    value: str | None
    aliases: list[str]
    normalized_aliases: list[str]


def distinct_aliases(gold: Gold) -> list[str]:
    """Return the gold aliases of both lists, each once."""
    return list(dict.fromkeys([*gold["aliases"], *gold["normalized_aliases"]]))


@dataclass(frozen=True, slots=True)
class Forms:
    """The gold aliases of a question in the authors' form and in the official ones; empty ones match nothing."""

    normal: Container[str]
    official: Container[str]
    # those whose number has a sign that a form leaves out, as they are
    signed: Container[str]


@dataclass(frozen=True, slots=True)
class HashedForms:
    """Forms of one kind of a question's aliases, of which only the salted hashes are known."""

    question_id: str
    kind: str
    hashes: frozenset[str]

    def __contains__(self, form: object) -> bool:
        """Return whether a form has one of the hashes."""
        # the question is the salt: no other shares a hash, and no alias can be read
        return sha256(f"{self.question_id}\n{self.kind}\n{form}")[:16] in self.hashes


def normalize_answer(text: str) -> str:
    """Return the normal form of an answer or an alias, in which two of them are compared.

    In lower case, without ` (...)` groups, `'`, `-` and `**`, without quotes at the ends and full stops
    at the end, and stripped.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        May be empty.

    Examples
    --------
    >>> normalize_answer("**The Hitch-Hiker's Guide** (novel).")
    'the hitchhikers guide'
    """
    text = re.sub(r"\s*\([^)]*\)", "", text.lower().strip())
    text = text.replace("'", "").replace("-", "").replace("**", "")
    return text.strip("\"'").strip().rstrip(".").strip()


def normalize_officially(text: str) -> str:
    """Return the form of TriviaQA's own evaluation (Joshi et al. 2017): lower case, no punctuation, no articles."""
    composed = unicodedata.normalize("NFC", text.lower())
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", composed.translate(PUNCTUATION)).split())


def answer_sha256(answer: str) -> str:
    """Return the SHA-256, in hex, of the normalised answer's UTF-8 bytes: the key of the label bank.

    Parameters
    ----------
    answer : str
        As the system gave it.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> answer_sha256("Paris (France)") == answer_sha256("paris")
    True
    """
    return sha256(normalize_answer(answer))


def exact_match(
    answer: str,
    aliases: Iterable[str],
    *,
    rule: str = "equality",
) -> bool:
    """Return whether an answer, as it is or undressed, equals an alias, or contains one.

    Parameters
    ----------
    answer : str
    aliases : iterable of str
        Gold answers, normalised here; those that normalise to nothing are ignored.
    rule : {"equality", "containment"}
        `equality`: the two are equal in the form of `normalize_answer` or of TriviaQA's own evaluation, unless the
        answer hedges, see `hedges`. `containment`: or the words of an alias follow each other in the answer. Denials
        and lists that name the alias are accepted too.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If `rule` is neither.

    Examples
    --------
    >>> exact_match("It is **Paris**.", ["Paris"]), exact_match("Paris (or Lyon)", ["Paris"])
    (True, False)
    >>> exact_match("In Paris.", ["Paris"], rule="containment"), exact_match("1914", ["19"], rule="containment")
    (True, False)
    """
    check_rule(rule)
    gold = gold_forms(aliases)
    texts = {answer, undress(answer)}
    if any(equals(text, gold) or equals_officially(text, gold) for text in texts):
        return True
    return rule == "containment" and any(contains(text, gold) for text in texts)


def undress(answer: str) -> str:
    """Return an answer without reasoning, markup, quotes, footnotes, a stated probability, and a frame ("It is").

    Reasoning ends with `</think>` or the like; of a JSON object the answer is the text under `answer` or `guess`. A
    probability says how sure a system is of its answer, not another answer: "Paris (30%)" is Paris.
    """
    text = unicodedata.normalize("NFKC", SUPERSCRIPT.sub("", THOUGHTS.sub("", answer).strip()))
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    text = TABLE.sub(r"\1", LINK.sub(r"\1", _from_json(CODE_FENCES.sub("", text))))
    if not STRIKE.search(text):
        text = SPECIAL_TOKENS.sub("", text)
    text = HEIGHT.sub("\\1\u2032", STATED_FIRST.sub("", STATED.sub("", text)))
    text = TAG.sub("", FOOTNOTE.sub("", text))
    for _ in range(8):  # nested dresses
        before = text
        text = (
            TEX.sub(lambda command: command[1] or "", text).rstrip(ENDS).lstrip(STARTS).lstrip(LEAD)
        )
        text = QUOTED.sub("", text)
        if len(text) > 2 and text[0] + text[-1] in PAIRS:
            text = text[1:-1]
        framed = FRAME.fullmatch(text)
        text = framed["inside"] if framed else text
        if text == before:
            break
    return THOUSANDS.sub("", text) if re.fullmatch(r"[\d,]+", text) else text


def _from_json(text: str) -> str:
    """Return the text under `answer` or `guess` of a JSON object, else the text itself."""
    try:
        content = json.loads(text) if text.strip().startswith("{") else None
    except (ValueError, RecursionError):
        return text
    fields = content if isinstance(content, dict) else {}
    answers = [fields[name] for name in ("answer", "final_answer", "guess") if name in fields]
    return answers[0] if answers and isinstance(answers[0], str) else text


def aliases_sha256(aliases: Iterable[str]) -> str:
    """Return the SHA-256, in hex, of the distinct official forms of aliases, sorted, one per line; "" if none.

    >>> aliases_sha256(["The Paris", "Lutetia"]) == aliases_sha256(["lutetia", "paris", "Paris!"])
    True
    """
    forms = sorted({normalize_officially(alias) for alias in aliases} - {""})
    return sha256("\n".join(forms)) if forms else ""


def sha256(text: str) -> str:
    """Return the SHA-256, in hex, of the UTF-8 bytes of a text as it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def hashed_forms(question_id: str, hashes: Iterable[str]) -> Forms:
    """Return the forms of a question's gold aliases from their salted hashes."""
    known = frozenset(hashes)
    return Forms(*(HashedForms(question_id, kind, known) for kind in KINDS))


def check_rule(rule: str) -> None:
    """Raise a ValueError unless the rule is one of `RULES`."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {rule!r}.")


def gold_forms(aliases: Iterable[str]) -> Forms:
    """Return the forms of all aliases."""
    texts = list(aliases)
    return Forms(
        normal=set(map(normalize_answer, texts)) - {""},
        official={*map(normalize_officially, texts), *map(plain, texts)} - {""},
        signed={text.strip().lower() for text in texts if _is_signed(text)},
    )


def _is_signed(alias: str) -> bool:
    forms = (normalize_answer(alias), plain(alias))
    return SIGNED.search(alias) is not None or any(omits_sign(alias, form) for form in forms)


def omits_sign(text: str, form: str) -> bool:
    """Return whether a form of digits leaves out more of a text than space and a bracket: 62 does of 6'2 and of 62%."""
    if not form.replace(" ", "").isdigit():
        return False
    return not any(map(NUMERAL.fullmatch, (text, BRACKET.sub("", text))))


def plain(text: str) -> str:
    """Return the official form without accents, `&` written out, and with marks of doubt and minus signs as words."""
    # a full-width mark is a mark
    composed = unicodedata.normalize("NFKC", text).lower().replace("&", " and ")
    marked = MARK.sub(lambda mark: f" mark{ord(mark[0][0])} ", composed)
    letters = ACCENTS.sub("", unicodedata.normalize("NFKD", marked.translate(LETTERS)))
    spaced = (" " if unicodedata.category(char)[0] == "P" else char for char in letters)
    return normalize_officially("".join(spaced))


def equals(answer: str, gold: Forms) -> bool:
    """Return whether an answer that does not hedge has the normal form of an alias."""
    form = normalize_answer(answer)
    has_form = form in gold.normal and _is_that_number(answer, form, gold)
    return has_form and not hedges(answer, gold)


def equals_officially(answer: str, gold: Forms) -> bool:
    """Return whether answer and alias are equal in the form of TriviaQA's own evaluation, accents aside."""
    form = plain(answer)
    return form in gold.official and _is_that_number(answer, form, gold)


def _is_that_number(answer: str, form: str, gold: Forms) -> bool:
    """Return whether a form of digits leaves no sign out, unless an alias has the same one."""
    return not omits_sign(answer, form) or answer.strip().lower() in gold.signed


def contains(answer: str, gold: Forms) -> bool:
    """Return whether the words of an alias follow each other in the answer."""
    words = plain(answer).split()
    return any(
        " ".join(words[start:end]) in gold.official
        for start in range(len(words))
        for end in range(start + 1, min(start + LONGEST, len(words)) + 1)
    )


def hedges(answer: str, gold: Forms) -> bool:
    """Return whether an answer has a question mark or the like, or a bracket that may be a doubt or an alternative.

    A bracket that names an alias, the kind of thing or years is none of these, nor is one that an alias has too.

    >>> gold = gold_forms(["Paris", "City of Light"])
    >>> [hedges(answer, gold) for answer in ("Paris (or Lyon)", "Paris?", "Paris (city)", "Paris (City of Light)")]
    [True, True, False, False]
    """
    brackets = BRACKET.findall(answer)
    harmless = all(
        GLOSS.fullmatch(inside.strip()) or plain(inside) in gold.official for inside in brackets
    )
    marked = MARK.search(unicodedata.normalize("NFKC", answer)) is not None
    return (marked or not harmless) and not equals_officially(answer, gold)


def is_refusal(answer: str) -> bool:
    """Return whether an answer is empty, or only says that there is none."""
    words = re.findall(r"\w+", re.sub("['\u2019]", "", answer.lower()))
    if not answer.strip(SILENCE):
        return True
    return REFUSAL.search(" ".join(words)) is not None and REFUSAL_WORDS.issuperset(words)
