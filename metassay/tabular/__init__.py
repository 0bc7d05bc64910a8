"""Tables as people keep them: CSV, XLSX, JSONL; separators, encodings, numbers, columns."""
