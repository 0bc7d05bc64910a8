"""What other tools wrote, read into tables of one's own, judges and people apart."""
