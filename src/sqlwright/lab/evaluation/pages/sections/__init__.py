"""The parts of a run's page, one module each: figures in, markup out."""
