"""Selection: one candidate, how sure we are of it, or a refusal."""
