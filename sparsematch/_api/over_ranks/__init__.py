"""The public functions of one matrix over several ranks. All are collective."""
