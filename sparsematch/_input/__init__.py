"""The readers of foreign matrices: an adapter for each library, over checks of index arrays.

SciPy's compiled conversions follow every index they are given: one out of range reads, or writes,
beyond an array. So what converts, permutes or scales a matrix has it checked here before.
"""
