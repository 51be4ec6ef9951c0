"""A model made ready to ship: its confidence fitted, its export checked."""
