"""Two states of a benchmark's numbers side by side: what differs, whether it holds, and why."""
