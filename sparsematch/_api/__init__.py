"""The public functions: each checks its arguments and leaves the work to the engines."""
