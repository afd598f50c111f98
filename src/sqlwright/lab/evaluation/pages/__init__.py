"""A run as a page, several runs side by side, and the differences of two. Nothing here is meant for
import from outside."""
