"""The part of a query that answers each phrase of the question, and phrases that nothing answers.

`account.account` is a pure function of question, schema, stored values and a query's facts,
whoever wrote the query. `asked` reads the question, `said` the query.

Internal: may change without notice.
"""
