"""`sqlwright lab calibrate`."""
