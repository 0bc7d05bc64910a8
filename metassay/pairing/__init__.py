"""The questions that measures need answered, and who answers them from what."""
