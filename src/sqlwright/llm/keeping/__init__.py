"""Storage of calls: the cache, recordings, the digest both go by."""
