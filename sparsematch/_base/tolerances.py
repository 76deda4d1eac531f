"""The tolerances that several files share, relative and without a unit, the smallest first.

What one file alone compares with stands there.
"""

#: The rounding error of 1: the spacing of doubles from there on.
EPSILON = 2.0**-52
#: Residuals and backward errors up to this are left as they are: a few rounding errors.
GOOD_ERROR = 1e-15
#: Singular values up to this share of the largest are zero but for rounding: ten rounding errors,
#: which is what an LU or a singular value decomposition leaves of them.
ROUNDING = 10 * EPSILON
#: A reciprocal condition below it: singular to working precision. Of 6,800 singular matrices with
#: rounded entries estimates reach 5.9e-15; 78 real regular ones have at least 5.7e-14.
SINGULAR = 50 * EPSILON
#: Residuals and backward errors up to this may be rounding alone: a sum of 1e4 terms comes to it.
#: Of least squares, corrected seminormal equations leave 1e-15 of most matrices, and 4e-11 of
#: mip_arki001, whose condition is 1e11, where Q itself leaves 2e-15.
ROUNDING_OF_RESIDUALS = 1e-13
#: Residuals and backward errors above this are worth another solve: four digits are lost.
UNSTABLE = 1e-12
#: Backward errors above this are warned of, where nothing else has helped.
POOR_ERROR = 1e-9
#: Half of the digits, the root of a rounding error. Pivots on the diagonal of at least this share
#: of their column are kept, as refinement brings the digits back; pivots below this share of their
#: block, and solutions for ones above its inverse, make a condition worth an estimate, as pivots
#: may be 1e8 times the least singular value; conditions and errors are small up to it.
HALF_OF_THE_DIGITS = 1e-8
#: Combinations that vanish up to this are named as nearly dependent, and singular values below it
#: made regular; more than those below the tolerance do no harm.
NEARLY_SINGULAR = 1e-6

#: Not a share: products of smaller numbers with others of the matrix have lost digits.
TINY = 1e-290
