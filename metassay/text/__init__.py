"""Text as text: tokens, sentences, citations and section headings, each with exact spans."""
