"""Screening: requests that no query could answer are refused before anything else is done.

Deterministic rules, in this order: nothing asked, too long, a wish to write, a language the
embedded models can't read, small talk. Each refusal says why and names the nearest thing that
could be done. What these rules let through may still be refused later, when the schema turns out
not to hold what is asked (`local/critic.py`).

A wish to write is told from a question about writing by grammar, not by a verb's mere presence:
`delete all orders` is refused, `how many orders were deleted` and `delete events by month` are not.
The database can't be written through in any case; this only gives a better answer than an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from sqlwright.protocols import Context
from sqlwright.steps.retrieval.language import foreign_language
from sqlwright.types import Question, Refusal, State

MAX_CHARACTERS = 10_000
"""Longer questions are refused unread."""

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'[^']*'(?!\w)")

_POLITE = (
    r"(?:(?:please|kindly|pls|now|next|then|also|ok|okay|hey|hi|hello|and|just|go\s+ahead\s+and|"
    r"(?:can|could|would|will)\s+(?:you|u|i|we)(?:\s+please)?(?:\s+help\s+me)?|"
    r"may\s+(?:i|we)|how\s+(?:do|can|could|should|would)\s+(?:i|we|you|one)|how\s+to|"
    r"(?:i|we)(?:\s+would|'d)?\s+(?:want|like|need|wish|have|would\s+like)\s+(?:you\s+)?to|"
    r"(?:i|we)'d\s+like\s+(?:you\s+)?to|let(?:'s|\s+us|\s+me)|help\s+me(?:\s+to)?|"
    r"you\s+(?:should|must|need\s+to|have\s+to)|make\s+sure\s+to|try\s+to|immediately|quickly)"
    r"[\s,:!.]+)*"
)
_DETERMINER = (
    r"(?:the|a|an|all|any|every|each|this|that|these|those|my|our|your|his|her|its|their|new|one|"
    r"another|some|both|everything|everyone|it|them|old|no|\d+|(?-i:[A-Z][a-z]+)|(?-i:Q))"
)
_SAID = re.IGNORECASE | re.DOTALL

# After a verb, these make it part of a noun: `update history`, `drop rate`, `delete events`.
_MEASURE = (
    r"(?:counts?|rates?|dates?|times?|history|histories|logs?|sizes?|types?|flags?|status|reasons?|"
    r"numbers?|names?|ids?|by|per|events?|operations?|requests?|frequency|volumes?|in|of|on|off|"
    r"percentages?|codes?|points?|lengths?|modes?|codes?|up|together|duplicates?|nulls?|"
    r"applications?|amounts?|programs?|awards?|timestamps?)"
)

_SQL_WRITE = re.compile(
    r"(?:^|;)\s*(?:explain\s+)?(?:insert\s+(?:or\s+\w+\s+)?into|replace\s+into|merge\s+into|"
    r"update\s+\S+\s+set|delete\s+from|truncate\s+\w|"
    r"(?:drop|create|alter)\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|virtual\s+)?"
    r"(?:table|view|index|trigger|database|schema|user|role|column|function|procedure)\b"
    r"(?!\s+(?:of|showing|that|with|listing|to\s+show|which|containing\s+the)\b)|"
    r"(?:grant|revoke)\s+.+\s+(?:on|to|from)\s+\w+|attach\s+(?:database\s+)?\S+\s+as|"
    r"vacuum\b|reindex\b|pragma\s+\w+\s*=)",
    _SAID,
)


def _imperative(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|[.;!?]\s+){_POLITE}(?P<verb>{pattern})", re.IGNORECASE | re.DOTALL)


_STRONG = _imperative(
    r"(?:delete|erase|insert|truncate|wipe|purge|overwrite|rename|revoke|modify|destroy|alter)\b"
    rf"(?!-)(?!\s+{_MEASURE}\b)(?=\s+\S)"
)
_REMOVE = _imperative(
    rf"(?:remove|drop|clear|uninstall)\b(?!-)(?!\s+{_MEASURE}\b)"
    rf"(?=\s+(?:{_DETERMINER}\b|tables?\b|columns?\b|rows?\b|records?\b|\w+\s+(?:from|where|with|"
    r"who|which|that|#?\d+)\b|\w+\s*[.!]?$))"
)
_CHANGE = _imperative(
    rf"(?:set\b(?!\s+of\b)|(?:update|change|switch|edit|adjust|correct|fix|reset|make)\b"
    rf"(?!\s+{_MEASURE}\b))(?!-)(?=\s+.*?(?:\bto\b|\binto\b|\bas\b|=|\bwith\b|\bfrom\b|\bby\s+\d|"
    r"\b(?:zero|null|inactive|active|admin|empty)\b))(?!\s+sure\b)(?!\s+(?:an?\s+)?"
    r"(?:list|report|summary|ranking|chart|graph|table|overview|query|comparison|it)\b)"
)
_UPDATE = _imperative(rf"(?:update|edit)\s+{_DETERMINER}\b(?!\s+(?:me|us)\b)")
_RAISE = _imperative(
    r"(?:increase|decrease|raise|lower|reduce|cut|double|halve|triple|multiply|lift)\s+"
    r"(?:the|all|every|each|everyone|everybody|my|our|his|her|their|prices?|salar\w+|\w+'s?)\b"
    r"(?=.*(?:\bby\b|\bto\b|%|\b(?:prices?|salar\w+|wages?|stock|budgets?|limits?)\b))"
)
_ADD = _imperative(
    r"(?:(?:add|append|register|enter|record|enrol|enroll|hire|import|upload|save|store|put)\s+"
    r"(?:(?:me|us)\s+)?(?:an?|one|another|new|this|these|two|three|\d+|the\s+following|"
    r"my|column|row|customer|user)\b(?!\s+(?:filter|condition|limit|ranking|column\s+(?:with|that|"
    r"showing|for)))|add\s+(?!up\b|together\b|(?:the\s+)?(?:numbers?|sums?|totals?|averages?|counts?|values?|prices?)\b).+\s+(?:to|into)\s+(?!the\s+(?:results?|output|list|"
    r"answer|query|selection|previous)\b)\S)"
)
_CREATE = _imperative(
    r"create\s+(?!an?\s+(?:\w+\s+)?(?:list|report|summary|query|ranking|chart|overview|breakdown|"
    r"comparison|graph|plot|view\s+of|pivot|histogram)\b|(?:an?\s+)?table\s+(?:of|showing|that|with|"
    r"listing|to\s+show|which)\b|dates?\b|times?\b|(?:list|report|summary|query|ranking)\b)\S"
)
_GRANT = _imperative(
    r"(?:grant|give|allow)\s+.*\b(?:access|permissions?|privileges?|rights?|admin)\b"
    r"(?!\s+(?:levels?|logs?|codes?|types?)\b)"
)
_ACT = _imperative(
    r"(?:cancel|archive|ban|disable|deactivate|activate|enable|lock|unlock|suspend|merge|swap|"
    r"move|transfer|assign|reassign|mark|restock|reverse|undo|restore|approve|reject|refund|"
    r"close|reopen|block|unblock|promote|demote|relocate|replace|flag|terminate|fire|discontinue)\s+"
    r"(?:the|all|any|every|each|this|that|these|those|my|our|his|her|it|them|everyone|"
    r"(?:order|customer|user|invoice|account|product|employee|booking|payment)s?\s+(?:#|no\b|"
    r"number\b|id\b|\d|(?-i:[A-Z]))|null|(?-i:[A-Z])\w+\b(?!\s*['’]s)(?=\s+(?:with|by|to|as|from)\b)|\S+\s+(?:with|by|to|as)\b)(?!\s+(?:rate|count)s?\b)"
)
_GIVE_RAISE = _imperative(
    r"(?:give|offer)\s+(?!me\b|us\b).*\b(?:a(?:n)?\s+(?:\S+\s+){0,3}(?:raise|discount|bonus|refund|"
    r"promotion|increase|credit)\b|(?<!\bwith\s)(?<!\bha[sd]\s)(?<!\bhave\s)(?<!\bg[eo]t\s)"
    r"(?<!\bof\s)(?<!\bfor\s)a\s+new\s+\w+\W*$)"
)
_THEN_WRITE = re.compile(
    r"(?:\band\b|\bthen\b|[,;])\s*(?:then\s+|also\s+|please\s+|after\s+that\s+)*"
    r"(?:delete|remove|erase|drop|truncate|wipe|update|overwrite|purge|cancel|archive|destroy)\s+"
    r"(?:them|it|those|these|all|everything|every\s+one|each|any\s+of\s+them|that\s+(?:row|record))\b",
    _SAID,
)
_THEN_WRITE_THE = re.compile(
    rf"^{_POLITE}(?:find|show|list|get|select|take|look|identify|locate|search|display|pick)\b.*"
    r"(?:\band\b|\bthen\b|[,;])\s*(?:then\s+|also\s+|please\s+)*"
    r"(?:(?:delete|remove|erase|drop|truncate|wipe|update)\s+(?:the|its|their|his|her)\b|"
    r"(?:set|change)\s+(?:the|its|their|his|her|all)\b.*\bto\b)",
    _SAID,
)
_SHOULD_BE = re.compile(
    r"^(?!\W*(?:which|what|who|whose|how|when|where|why|are|is|were|was|did|does|do|list|show|find|"
    r"give|count|name|display|get|tell|return|select)\b).*\b(?:(?:must|should|shall|needs?\s+to|"
    r"ha(?:s|ve)\s+to|can|could)\s+be|(?:want|need|like)\s+.*?(?:to\s+be\s+)?)\s*"
    r"(?:deleted|removed|dropped|erased|updated|changed|renamed|wiped|truncated|inserted|added)\b",
    _SAID,
)
_WRITES = (
    _STRONG, _REMOVE, _UPDATE, _CHANGE, _RAISE, _ADD, _CREATE, _GRANT, _ACT, _GIVE_RAISE,
)  # fmt: skip
_NULLS = re.compile(r"\b(?:replace|set)\s+(?:nulls?|missing|empty)\b|\bset\s+of\b", _SAID)

_GREETING = re.compile(
    r"^\W*(?:(?:hi+|hello+|hey+|howdy|hallo|yo|greetings|good\s+(?:morning|afternoon|evening|day|"
    r"night)|bye|goodbye|see\s+you|thanks?(?:\s+you)?|thx|cheers|ok(?:ay)?|yes|no|sure|cool|great|"
    r"nice|lol|wow|help|test(?:ing)?|ping|sorry|please|never\s*mind|welcome|there|everyone|all|"
    r"very|much|so|a\s+lot|bot|computer|sqlwright|friend|buddy|again|how\s+are\s+(?:you|things)"
    r"(?:\s+(?:doing|today))*|how\s+is\s+it\s+going|how's\s+it\s+going|what'?s\s+up|sup|"
    r"(?:who|what)\s+are\s+you|what\s+is\s+your\s+name|what'?s\s+your\s+name)\W*)+$",
    _SAID,
)
_ABOUT_YOU = re.compile(
    r"^\W*(?:what\s+can\s+you\s+do|what\s+do\s+you\s+(?:think|like|want|know|feel|do|prefer)|"
    r"are\s+you\s+(?:an?|human|alive|sentient|there|ok|okay|happy|sure|real|stupid|smart|chatgpt)\b|"
    r"do\s+you\s+(?:like|love|think|know\s+(?:me|how)|speak|understand|believe|have\s+feelings|want|"
    r"remember)\b|who\s+(?:made|created|built|trained)\s+you|how\s+(?:old\s+are|smart\s+are|were)\s+"
    r"you|how\s+do\s+you\s+(?:work|feel)|where\s+are\s+you|what\s+is\s+your\s+(?:favou?rite|opinion|"
    r"purpose|age)|what'?s\s+your\s+(?:favou?rite|opinion)|i\s+(?:love|hate|like)\s+you|"
    r"(?:i'm|i\s+am)\s+(?:bored|sad|happy|tired|hungry|lonely|angry|fine|back)\b|"
    r"you\s+are\s+(?:great|stupid|useless|awesome|the\s+best)|can\s+(?:you\s+)?(?:we\s+)?(?:chat|talk)"
    r"|talk\s+to\s+me|let'?s\s+(?:chat|talk|play)|should\s+i\b)",
    _SAID,
)
_OTHER_TASK = re.compile(
    rf"^\W*{_POLITE}(?:(?:tell|read|give|sing)\s+(?:me\s+|us\s+)?(?:an?|some|another)\s+"
    r"(?:\w+\s+){0,2}(?:jokes?|poems?|story|stories|songs?|riddles?|fairy\s+tales?|lullaby|pun|"
    r"fun\s+facts?|haikus?|limericks?|speech)\b|"
    r"(?:make|write|compose|draw|paint|generate|invent|draft)\s+(?!down\b)(?:me\s+|us\s+)?(?:up\s+)?"
    r"(?:an?|some|the|another)?\s*(?:\w+\s+){0,2}(?:jokes?|poems?|story|stories|songs?|essays?|"
    r"haikus?|limericks?|riddles?|novel|python|javascript|code|script|picture|logo|letter|"
    r"speech|blog\s+post|email|e-mail|tweet)\b|"
    r"sing\b|dance\b|translate\b|remind\s+me\b|wake\s+me\b|"
    r"turn\s+(?:on|off)\b|play\s+(?:some|me|a|the|music)\b|(?:book|order|buy|reserve)\s+(?:me\s+)?"
    r"(?:an?|some|two)\b|set\s+(?:an?|the|my)\s+(?:alarm|timer|reminder)\b|"
    r"(?:send|forward|mail|text|email|e-mail)\s+(?:an?|the|this|these|him|her|them|it|everyone|all|my)"
    r"\b|(?:call|phone|ring)\s+(?:my|him|her|them|mom|dad|the)\b|open\s+(?:the\s+)?(?:door|window|"
    r"browser|youtube|google)\b|(?:recommend|suggest)\s+(?:me\s+)?(?:an?|some)\b|"
    r"explain\s+(?:quantum|how|why|the\s+(?:theory|concept|difference|meaning))\b|"
    r"(?:predict|forecast)\s+(?:the|next|how|what|who|which|our|my|future|tomorrow\w*)\b|"
    r"(?:teach|show)\s+me\s+how\s+to\b|solve\b)",
    _SAID,
)
_WORLD = re.compile(
    r"^\W*(?:what(?:'s|\s+is)\s+the\s+(?:meaning|purpose)\s+of\s+(?:life|love|everything)|"
    r"what(?:'s|\s+is)\s+(?:the\s+)?(?:love|time\s+(?:is\s+it|now)|current\s+time|date\s+today|"
    r"today'?s\s+date)\W*$|what\s+time\s+is\s+it|what\s+day\s+is\s+(?:it|today)|"
    r"why\s+is\s+the\s+sky\s+blue|what\s+is\s+\d+\s*[-+*/x^]\s*\d+|is\s+there\s+(?:a\s+god|life\s+on)|"
    r"how\s+do\s+i\s+(?:cook|bake|learn|tie|get\s+rich|lose\s+weight|make\s+(?:a|an)\s+\w+\W*$)|"
    r"what\s+should\s+i\b|who\s+will\s+win\b|[\d\s.()+*/^=-]+\??$)",
    _SAID,
)


def screen_request(question: Question) -> Refusal | None:
    """Why this request can't be answered by reading a database; None when it may be one."""
    text = question.text
    if len(text) > MAX_CHARACTERS:
        return Refusal(
            "too_long",
            f"The question has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.",
            "Ask for one thing at a time, in a sentence or two.",
        )
    if not any(letter.isalnum() for letter in text):
        return Refusal(
            "empty",
            "There is no question.",
            "Ask about the data, for example: how many rows does each table have?",
        )
    bare = _QUOTED.sub("Q", text).strip()
    if wants_to_write(bare):
        return Refusal(
            "write",
            "That asks to change the database, and sqlwright only ever reads.",
            _instead_of_writing(text.strip()),
        )
    language = foreign_language(text)
    if language:
        return Refusal(
            "language",
            f"The question seems to be in {language}; the embedded model reads English only.",
            "Ask in English; names and values may stay as they are stored.",
        )
    if is_small_talk(bare):
        return Refusal(
            "unanswerable",
            "That isn't something this database could hold.",
            "Ask about the data, for example: which customers ordered most last year?",
        )
    return None


def wants_to_write(text: str) -> bool:
    """Whether a request, quoted text taken out, asks for a change rather than about one."""
    if _SQL_WRITE.search(text):
        return True
    if _NULLS.search(text) and not _STRONG.search(text):
        return False
    if any(rule.search(text) for rule in _WRITES):
        return True
    return any(rule.search(text) for rule in (_THEN_WRITE, _THEN_WRITE_THE, _SHOULD_BE))


def is_small_talk(text: str) -> bool:
    """Whether a request is a greeting, about the assistant, or a task of another kind."""
    return any(rule.search(text) for rule in (_GREETING, _ABOUT_YOU, _OTHER_TASK, _WORLD))


_OBJECT = re.compile(
    rf"^{_POLITE}(?:delete|remove|erase|purge|wipe|clear|cancel|archive|update|drop|mark|change|"
    r"edit|modify|set|increase|decrease|raise|reduce|lower)\s+(?:from\s+)?(?P<object>.+?)"
    r"(?:\s+(?:to|by|as|with|into)\s+.*)?[.!?\s]*$",
    _SAID,
)


def _instead_of_writing(text: str) -> str:
    found = _OBJECT.search(text)
    if found and len(found["object"]) <= 120 and ";" not in found["object"]:
        return f"To see what it would touch, ask: show {found['object']}"
    return "Ask to see what is there now; make the change with your database's own tools."


@dataclass(frozen=True)
class ScreenRequest:
    """The step: sets `refusal` where `screen_request` gives one and none is set yet."""

    reads: ClassVar[frozenset[str]] = frozenset({"question", "refusal"})
    writes: ClassVar[frozenset[str]] = frozenset({"refusal"})

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        if state.refusal is not None:
            return state
        refusal = screen_request(state.question)
        return state if refusal is None else state.evolve(refusal=refusal)
