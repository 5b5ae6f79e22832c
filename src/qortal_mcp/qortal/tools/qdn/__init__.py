"""QDN, the data that people publish: what there is, and small public texts of it."""
