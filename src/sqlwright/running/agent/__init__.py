"""Agents: a language model chooses among steps, turn by turn, and sees what they did."""
