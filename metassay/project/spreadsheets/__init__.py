"""Spreadsheets of texts, ratings and scores, as people keep them, into data of one's own."""
