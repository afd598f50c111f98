"""What in a query answers each phrase of the question, and which phrases nothing answers.

`account.account` is a pure function of question, schema, stored values and a query's facts,
whoever wrote the query. `asked` reads the question, `said` the query.
"""
