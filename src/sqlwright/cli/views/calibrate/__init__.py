"""`sqlwright calibrate`."""
