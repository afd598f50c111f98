"""Places of a query in which the data may do what nobody meant: NULL in an order, numbers held as
texts, texts among numbers, rows equal at a LIMIT. Internal."""
