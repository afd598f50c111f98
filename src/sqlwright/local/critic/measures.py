"""Every feature of the critic: its name, as the weights know it, and what it measures.

The one table of names: a feature that isn't here is none, and a test holds it against
`critic.json`. Yes is 1 and no is 0; counts are cut at 2 to 8.
"""

from __future__ import annotations

from collections.abc import Mapping

AUTHOR: Mapping[str, str] = {
    "score": "the author's own score, a log probability from -50 to 50",
    "behind": "how far its score is behind the best candidate's",
    "first": "whether it is the first candidate",
    "rank": "one over its place among the candidates, from 1",
    "share": "its part of the probability by the scores",
    "agreement": "probability of all candidates with its result",
    "agreeing": "part of the candidates that have its result",
    "most agreed": "whether no other result has more probability",
    "repaired": "whether it was made from another candidate",
    "warned": "findings of machine checks",
}
"""Of a candidate beside the others."""

RESULT: Mapping[str, str] = {
    "not run": "whether it wasn't executed",
    "error": "whether it ended in an error",
    "timeout": "whether it took too long",
    "no rows": "whether it found nothing",
    "only null": "whether its first 50 rows hold nothing but NULL",
    "some null": "part of NULL among the cells of its first 50 rows",
    "one cell": "whether it gave one row of one column",
    "zero": "whether that is 0",
    "one row": "whether it gave one row",
    "log rows": "logarithm of one more than its rows",
    "truncated": "whether a limit left out rows",
    "same rows": "whether all of its rows are equal",
    "repeats": "part of its rows that are there before",
    "width": "columns of its result",
}

COVERAGE: Mapping[str, str] = {
    "words used": "part of the question's words that the query names",
    "words left": "part of them that something explains, which the query doesn't name",
    "hits": "phrases of the question that are stored values",
    "hits used": "part of these whose value the query names",
    "hits left": "those whose value it doesn't name",
    "hits in column": "those whose value's column it uses",
    "link mean": "mean of the linker's scores of its columns, keys aside",
    "link least": "least of these",
    "link missed": "greatest linker's score of a column that it doesn't use",
    "links missed": "sum of those above 0.3",
    "table least": "least of the linker's scores of its tables",
    "table missed": "greatest linker's score of a table that it doesn't use",
    "tables": "tables that it reads",
    "columns": "columns that it uses",
    "linked": "whether the linker has scored any column",
    "idle tables": "joined tables of which nothing is used or asked, and that join no others",
    "sense used": "how much of the words' meaning its names catch",
    "sense left": "how much of it other names would catch",
    "sense most left": "the most that one word leaves so",
}
"""Measures of how much of the question a candidate uses."""

KINDS: Mapping[str, str] = {
    "count": "COUNT",
    "average": "AVG",
    "sum": "SUM",
    "most": "the first rows of a falling order, or MAX",
    "least": "the first rows of a column's rising order, or MIN",
    "each": "GROUP BY",
    "not": "a negation, != or EXCEPT",
    "distinct": "DISTINCT",
    "order": "ORDER BY",
    "greater": ">, >= or BETWEEN",
    "less": "<, <= or BETWEEN",
    "between": "BETWEEN, or both bounds",
    "frequent": "an order by COUNT, or HAVING COUNT",
    "or": "OR, UNION or IN",
    "both": "INTERSECT",
    "like": "LIKE",
}
"""Kinds of clauses that words ask for."""

FORM: Mapping[str, str] = {
    f"{kind} {fate}": f"whether {clause} is {words}"
    for kind, clause in KINDS.items()
    for fate, words in (
        ("kept", "asked for and there"),
        ("lost", "asked for and missing"),
        ("made up", "there unasked"),
    )
} | {
    "selects": "SELECTs",
    "joins": "joins",
    "conditions": "AND and OR, those of BETWEEN and ON too",
    "set operation": "whether there is any",
    "items": "what the first SELECT shows",
    "items too few": "items that the question's head lists beyond these",
    "items too many": "items shown beyond those",
    "numbers": "numbers in the question",
    "numbers lost": "those that begin no literal of the query",
    "literals unasked": "literals, 0 and 1 aside, that the question doesn't hold",
    "limit unasked": "whether the LIMIT is neither 1 nor in the question",
    "year as count": "whether a count is compared with what looks like a year",
    "aggregate ordered": "whether a lone aggregate is ordered",
    "group shown": "whether a key of the grouping is shown",
    "group hidden": "whether none is",
    "group aggregated": "whether groups are shown with an aggregate",
    "alphabet by number": "whether an alphabetical order is asked for and no name is ordered by",
    "ordered in words": "whether an order is asked for and there is none",
    "limit without order": "whether rows are cut in no order",
    "compared wrongly": "numbers of the question compared in the other direction",
    "compared unasked": "numbers bound where the question doesn't say so",
    "comparison lost": "numbers set equal where the question bounds",
    "bound in doubt": "bounds that include the number where the question doesn't, or don't",
}
"""The clauses of a query against the words of the question."""

SCHEMA: Mapping[str, str] = {
    "foreign keys shown": "foreign keys that are shown",
    "keys shown unasked": "keys that are shown where the question asks for none",
    "shown unnamed": "shown columns of whose name the question holds no word",
    "grouped elsewhere": "whether the grouping goes by another table than is shown",
    "grouped by foreign key": "whether a foreign key is grouped by",
    "grouped by lone key": "whether one table is grouped by its own key",
    "groups counted": "whether an order goes by a count",
    "grouped unnamed": "whether the question holds no word of a column grouped by",
    "named tables used": "tables that the question names and the query reads",
    "named tables left": "tables that it names and the query doesn't read",
    "named number used": "whether a column is used that holds what is asked the number of",
    "named number left": "whether there is one and it isn't used",
    "ordered as said": "whether the order goes by a column that the question names for it",
    "ordered elsewhere": "whether it goes by others alone",
    "extreme as said": "whether an extreme is taken of a column that the question names for it",
    "extreme elsewhere": "whether extremes are taken of others alone",
    "shown twice": "whether a column is shown twice",
    "number counted": "whether rows are counted where a column holds the number",
    "number taken": "whether that column is used",
    "off unasked": "whether a switch is set to no where the question negates nothing",
    "off": "whether it is where the question does",
    "on unasked": "whether a switch is set to yes where the question negates",
    "on": "whether it is where the question doesn't",
    "subtype left": "whether a table is named, unused, whose rows are some of a used one's",
    "grouped by each": "whether the key is grouped by of what each is asked for",
    "grouped by another": "whether others alone are",
    "operands apart": "columns held against each other that no key and no name joins",
    "key as said": "whether a key is used that the question speaks of",
    "key of another": "whether another table's key is used in its place",
    "joined by another role": "joins by a key while the question names another one between both",
}
"""Measures of the columns that it shows, groups, orders and joins by, against the schema."""

ZONES: Mapping[str, str] = {
    "shown as asked": "how well the columns shown fit the words that ask",
    "shown hardly asked": "columns shown that fit them badly beside one that fits",
    "ordered as asked": "how well the columns ordered by fit the words about order",
    "asked covered": "how much of the words that ask the columns shown and tables use",
    "asked covered by columns": "how much of them the columns shown use",
    "head covered": "how much of the words that ask, and of whose it is, they use",
    "head left": "words there that they don't use",
    "conditions covered": "how much of the words of conditions their columns and tables use",
    "conditions left": "words there that they don't use",
    "groups covered": "how much of the words of groups their columns and tables use",
    "groups left": "words there that they don't use",
    "order covered": "how much of the words about order its columns use",
    "question covered": "how much of all words all columns and tables use",
    "question left": "words that they don't use",
    "pairs fit": "how well the worst literal's column fits the words around it",
    "pairs fit others": "how much better another column of the same table fits them",
    "initial of a word": "letters compared with that begin a word of the question",
    "counts what is named": "whether a table is counted that the question counts",
}
"""Columns against the part of the question that asks for them."""

WORDS: Mapping[str, str] = {
    "name part extra": "whether first or last names are shown unasked",
    "name part right": "whether just the part of a name is shown that is asked for",
    "name part lost": "whether the other part is shown alone",
    "name part ordered right": "whether the order goes by the part of a name that is said",
    "name part ordered wrong": "whether it goes by the other",
    "limit made up": "whether rows are cut where no extreme is asked for",
    "limit in each": "whether rows are cut where something is asked for each",
    "aggregate limited": "whether an aggregate without groups is cut",
    "extreme right": "whether all extremes are taken in the direction that is asked for",
    "extreme wrong": "whether all are taken in the other one",
    "direction right": "whether the order has the direction that is asked for",
    "direction wrong": "whether it has the other one",
    "order counted": "whether the order goes by a number where one is asked for",
    "aggregates lost": "functions listed in the question beyond those shown",
    "aggregates kept": "whether at least as many are shown as are listed",
    "function made up": "functions shown that no word asks for",
    "mixed ungrouped": "whether columns stand beside aggregates without groups",
    "star kept": "whether everything is asked for and shown",
    "star lost": "whether everything is asked for and not shown",
    "different uncounted": "whether different values are asked the number of, not counted so",
    "unequal joined": "whether a negation is a != over joined tables",
    "excepted": "whether a negation is an EXCEPT or NOT IN",
    "excepted joined": "whether it is, over joined tables",
    "each in one": "whether one number is shown where one for each is asked for",
    "counted alone": "whether nothing but a count is shown that nobody asked for",
    "shown key ungrouped": "whether a key is shown that isn't grouped by",
    "having kept": "whether groups are bound where the question does",
    "literal repeated": "whether a literal stands there more often than in the question",
    "literal empty": "whether a text is empty",
    "text against number": "columns of texts compared with a number",
    "constant shown": "whether a column is shown that is set to one value",
}
"""Measures of how it heeds single words."""

QUESTION: Mapping[str, str] = {
    "q words": "content words",
    "q unexplained": "part of them that no name and no value explains",
    "q unexplained count": "their number",
    "q weak": "part of them hardly explained",
    "q weak count": "their number",
    "q by chance": "part of them that only a common word's stored value explains",
    "q strictly unexplained": "words unexplained without those",
    "q strict worst": "how well the worst word is explained, without those",
    "q strict mean": "how well all are on average",
    "q worst": "how well the worst word is explained",
    "q second worst": "how well the second worst is",
    "q mean": "how well all are on average",
    "q named": "part of them that a name holds",
    "q valued": "part of them that a stored value holds",
    "q names missing": "names of something that nothing holds",
    "q column": "the linker's best score of a column",
    "q column second": "its second best",
    "q column sum": "the sum of all",
    "q table": "the linker's best score of a table",
    "q table second": "its second best",
    "q top score": "the first candidate's score",
    "q top share": "the best candidate's part of the probability",
    "q entropy": "entropy of the candidates' parts",
    "q groups": "different results",
    "q agreement": "probability of the most probable result",
    "q log columns": "logarithm of one more than the schema's columns",
    "q sense mean": "how well some name means what each word means, on average",
    "q sense worst": "for the worst word",
    "q sense second": "for the second worst",
    "q sense missing": "words that no name means",
    "q sense doubtful": "words that no name means well",
    "q missing": "whether nothing explains some word",
}
"""Measures of the question alone, which say if the database can hold what is asked."""

RANKED: Mapping[str, str] = {
    "rank share": "its part of the probability by the ranking",
    "rank logit": "the log odds of that",
    "rank behind": "how far the ranking puts it behind the best",
    "rank mass": "probability by the ranking of all candidates with its result",
    "rank mass logit": "the log odds of that",
}
"""Outputs of the first model, over all candidates together."""

JUDGED: Mapping[str, str] = {"right": "how probable it is that the best candidate is right"}
"""Output of the second model, for the last."""

OF_QUERY: tuple[str, ...] = (*FORM, *SCHEMA, *ZONES, *WORDS)
"""Measures that are read from a query's facts; all 0 for a query that can't be read."""

MEASURED: Mapping[str, str] = {
    **AUTHOR, **RESULT, **COVERAGE, **FORM, **SCHEMA, **ZONES, **WORDS, **QUESTION,
}  # fmt: skip
"""All that a candidate is described by."""

MEASURES: Mapping[str, str] = {**MEASURED, **RANKED, **JUDGED}
"""All that any of the critic's models is given."""
