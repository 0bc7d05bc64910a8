"""One section of the page per file: tables in, what the template prints out."""
