"""The folder of what is prepared: paths, manifest, locks, what is in it, removal."""
