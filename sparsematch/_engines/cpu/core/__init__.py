"""What every package of the CPU back-end builds on: views, run context, threads, transpose, certificates."""
