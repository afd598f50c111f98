"""Other forms of what a question calls a thing: known ones, and codes that descriptions tell."""
