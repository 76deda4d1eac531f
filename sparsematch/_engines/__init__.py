"""How it is done: one folder per back-end, and the registry that knows what they offer."""
