"""What the packages for several ranks build on: exchanges, the two sides of a matrix, checks."""
