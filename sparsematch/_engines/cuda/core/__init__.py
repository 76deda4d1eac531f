"""What every package of the CUDA back-end builds on: compilation, transpose, alternating searches, certificates."""
