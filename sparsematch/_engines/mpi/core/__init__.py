"""What the packages for several ranks build on: collectives, the two sides of a matrix, checks."""
