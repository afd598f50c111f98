"""An answer as JSON, text, CSV and HTML."""
