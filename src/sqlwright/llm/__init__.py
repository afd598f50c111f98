"""Language models: endpoints, limits, cache, recordings, prices, and the gate in front of them."""
