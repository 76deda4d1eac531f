"""The types of matrices over ranks: what a rank has, and the results of collective calls."""
