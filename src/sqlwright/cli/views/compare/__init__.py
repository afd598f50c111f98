"""A question by several recipes: asked, then shown side by side."""
