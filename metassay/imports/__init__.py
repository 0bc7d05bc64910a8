"""Read the files of other evaluation tools into tables, judges and people apart."""
