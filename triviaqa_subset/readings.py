"""What of a reply is its answer: without reasoning, markup and words that name nothing; and what is no answer."""

import re
import string
import unicodedata
from itertools import takewhile

MARK = re.compile(  # a sign of doubt or denial, letters struck through, an empty bracket, a face, or a minus
    r"[?\u203d\u00bf\u055e\u061f\u2e2e~\u2248\u2260\u00ac\u2717\u2718\u274c\u0335-\u0338]|!=|(?<!\w)!(?=\w)"
    r"|^\s*!|\([\s.\u2026]*\)|%(?=\s*$)"
    r"|(?<!\S)[:;]-?[/\\()|](?!\S)|(?<![\w.)])[-\u2212\u2013](?=\.?\d)"
)
# The name of a tag around reasoning, as <think>, <seed:think>, <thinking_process>.
REASONING = r"(?:[^\W_]+[:_])*(?:think|thinking|thoughts?|reasoning|scratchpad|reflection|analysis)(?:_[^\W_]+)*"
START_OF_REASONING = re.compile(
    rf"(?i)\s*(?:<({REASONING})>|\[THINK\]|\u25c1think\u25b7|<\|begin_of_thought\|>|<\|channel\|>(?:analysis|commentary)"
    r"|(?-i:analysis(?=[A-Z])))"
)
# A closing tag ends a reasoning that a template may have opened; of rarer names only if it stands at an end of line.
END_OF_REASONING = re.compile(
    rf"(?i)</think>|</{REASONING}>(?=\s*(?:\n|\Z))|\[/THINK\]|\u25c1/think\u25b7|<\|end_of_thought\|>"
    r"|<\|channel\|>final(?:\s[^<]*)?<\|message\|>"
    r"|(?<=[.?!\"')\]])assistantfinal"  # the channels of gpt-oss, where a server drops its special tokens
)
# Two tags around a text, unless they strike it out or hold what comes before an answer.
TAGS = re.compile(rf"<(?!(?:s|strike|del|not|{REASONING})\b)(\w+)\b[^<>]*>([^<>]*)</\1>", re.I)
MARKUP = re.compile(  # special tokens of models, line breaks, and commands of TeX
    r"<(?:\|[\w-]+\||/s|[be]os|end_of_turn|br\s*/?)>|\\(?:boxed|(?:text|math)\w*|[()\[\]])|\$(?!\d)",
    re.I,
)
HEIGHT = re.compile(  # a mark of feet or inches closes no quotation
    r"\A([^'\"\u2018-\u201f]*\d)['\"\u2019\u201d](?=[\s.]*\Z)"
)
LIST_MARK = re.compile(r"\A(?:\d{1,2}[.)]|[-\u2013]+>?|[#>]+)\s+")
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
QUOTES = "\u2018\u2019\u00b4\u201c\u201d"  # curly ones, and the acute accent
STARTS = (
    string.whitespace
    + QUOTES
    + "\"'`*_.,;:)]{}[\u00ab\u00bb\u2039\u203a\u201e\u201a\u300c\u300d\u300e\u300f\u2026\u2022\u00b7\u2192\u300a\u300b"
)
ENDS = STARTS.replace(")", "(") + "!"  # in front, this one is a "not"
SILENCE = STARTS + ENDS + "?-/\\\u2013\u2014"

LEVEL = "(?:high|medium|moderate|low)"
STATED = re.compile(  # how sure a system is: a number with a percent sign or below 2 with a point, or a word
    rf"(?<![\w.])(?:(?:\d+(?:\.\d*)?|\.\d+)\s*%|[01]?\.\d+\b)|\b(?:{LEVEL}\s+confidence|confidence:\s*{LEVEL})\b",
    re.I,
)
PIECE = re.compile(rf"{STATED.pattern}|[^\W_]+(?:['\u2019][^\W_]+)*", re.I)
# What is never taken off: a mark of doubt, a tag, and a bracket but one around a probability.
KEPT = re.compile(rf"{MARK.pattern}|[(<]")
STATEMENT = re.compile(rf"(?:\([^()]*?)?(?:{STATED.pattern})", re.I)
MOST = 12  # words that are taken off one end

NAMELESS = frozenset(  # words that name nothing, without apostrophes
    re.findall(
        r"\w+",
        """a an the i my me your our it its that thats this these those he hes she shes they theyre their we you
        is was are were be been being would have am im id
        answer response result solution guess question probability confidence certainty
        final correct right best short great good known named called
        think believe say go with sure certain confident
        absolutely actually certainly confidently definitely fairly pretty quite reasonably very easy just
        of course in to as so thus therefore hence now here heres
        yes well ok okay thanks thank assistant json""",
    )
)
DENIALS = frozenset(  # of an answer; a refusal has one of these
    re.findall(
        r"\S+",
        """n/a not cannot cant couldnt dont doesnt didnt wont unable unknown unsure unanswerable decline lack
        insufficient impossible idk dunno idea clue""",
    )
)
REFUSING = (  # all words that a refusal has
    NAMELESS
    | DENIALS
    | frozenset(
        re.findall(
            r"\w+",
            """able afraid ai any available at but can could determine determined do does enough find for from help
            information know knowledge language model must no on possible provide rather recall remember sorry tell
            there unfortunately""",
        )
    )
)


def readings(answer: str) -> list[str]:
    """Return an answer as it is, and what is left of it without markup and the words at its ends that name nothing.

    None of them leaves out a mark of doubt, or a bracket but that of a stated probability: "Paris (30%)" is Paris,
    with little confidence.

    >>> readings("I think it's **Paris**.")[-1], readings("I think it's Paris (or Lyon)")[-1]
    ('Paris', 'Paris (or Lyon)')
    """
    text = without_markup(answer)
    words = list(PIECE.finditer(text))
    before = takewhile(_is_nameless, words[:MOST])
    behind = takewhile(_is_nameless, words[: -MOST - 1 : -1])
    starts = [0, *(word.end() for word in before)]
    ends = [len(text), *(word.start() for word in behind)]
    cuts = [_strip(text[start:end]) for start in starts for end in ends]
    cuts += [cut.replace(",", "") for cut in cuts if THOUSANDS.fullmatch(cut)]
    kept = _kept_signs(text)
    return [answer, *(cut for cut in dict.fromkeys(cuts) if cut and _kept_signs(cut) == kept)]


def reasoning_length(reply: str) -> int:
    """Return the length of the reasoning at the start: up to its last end, or all of it if it does not end."""
    opening = START_OF_REASONING.match(reply)
    ends = [mark.end() for mark in END_OF_REASONING.finditer(reply)]
    if opening and opening[1]:
        ends += [mark.end() for mark in re.finditer(f"</{opening[1]}>", reply, re.IGNORECASE)]
    return max(ends, default=len(reply) if opening else 0)


def without_markup(answer: str) -> str:
    """Return an answer without reasoning, markup and invisible characters."""
    text = unicodedata.normalize("NFKC", answer[reasoning_length(answer) :])
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    for _ in range(3):  # one in another
        text = TAGS.sub(r"\2", text)
    return HEIGHT.sub("\\1\u2032", MARKUP.sub("", text).strip())


def is_refusal(answer: str) -> bool:
    """Return whether an answer is empty, or only says that there is none."""
    text = STATED.sub("", without_markup(answer))
    words = set(re.findall(r"n/a|\w+", _without_apostrophes(text)))
    if not words:
        return not answer[reasoning_length(answer) :].strip(SILENCE)
    return not words.isdisjoint(DENIALS) and REFUSING.issuperset(words)


def _is_nameless(word: re.Match[str]) -> bool:
    return _without_apostrophes(word[0]) in NAMELESS or STATED.fullmatch(word[0]) is not None


def _without_apostrophes(text: str) -> str:
    return re.sub("['\u2019]", "", text.lower())


def _kept_signs(text: str) -> list[str]:
    return KEPT.findall(STATEMENT.sub("0", text))


def _strip(text: str) -> str:
    """Return a text without the punctuation at its ends."""
    bare = text.rstrip(ENDS if "(" in text else ENDS + ")").lstrip(STARTS)
    return LIST_MARK.sub("", bare).lstrip(STARTS)
