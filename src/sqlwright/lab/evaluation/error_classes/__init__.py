"""Classes of wrong answers: read by code from prediction and gold, or given by a person."""
