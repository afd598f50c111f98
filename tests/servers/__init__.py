"""Real servers on loopback, started for the tests and ended with them."""
