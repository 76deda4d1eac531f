"""Features of a matrix that cost a pass or less, and renumbering for locality."""
