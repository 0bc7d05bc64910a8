"""Tables and figures of the papers, ours beside theirs: a record each, drawn by one engine."""
