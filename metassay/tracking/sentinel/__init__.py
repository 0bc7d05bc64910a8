"""The drift sentinel: a fixed set of questions that an LLM judge is asked again and again."""
