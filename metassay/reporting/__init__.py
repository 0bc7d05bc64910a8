"""The report: tables, figures and one web page about one benchmark."""
