"""Projects for one's own data: folders outside Metassay's own, made and brought up to date."""
