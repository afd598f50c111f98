"""The processes that read a database, and what they give up before they do."""
