"""Repair: candidates executed, checked by machine and put right."""
