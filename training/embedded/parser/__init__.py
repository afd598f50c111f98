"""Training the embedded parser."""
