"""What users say: each function reads its arguments once, names the steps, and leaves the work to the engines."""
