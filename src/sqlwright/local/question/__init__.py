"""A question and a schema as the linker and the critic both read them."""
