"""QDN, the data that people publish: search, metadata, and small public texts."""
