"""Requests on their way: connections, limits, retries."""
