"""Training the embedded linker."""
