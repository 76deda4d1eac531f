"""Why a matrix is singular in its numbers, and how many digits of a solution are lost."""
