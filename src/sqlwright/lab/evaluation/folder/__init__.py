"""The folder of a run: described, locked, divided into shards, merged, submitted. Nothing here is
meant for import from outside."""
