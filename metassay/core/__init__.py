"""What every room needs: errors, names, options, params, YAML, files that are whole, SQLite."""
