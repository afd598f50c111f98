"""Questions back at a terminal."""
