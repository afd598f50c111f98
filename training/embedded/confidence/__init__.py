"""Fits how sure an answer may be: families of questions, what comes of them, the calibration."""
