"""Numbers over time: compare, accept, re-evaluate, history, and the sentinel of LLM judges."""
