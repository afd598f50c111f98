"""`doctor`: its checks, and how they are shown."""
