"""The words for results: explanations, diagnoses, and what they are put together of."""
