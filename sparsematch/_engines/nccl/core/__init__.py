"""Exchanges between GPUs, who owns what there, and the account of an engine."""
