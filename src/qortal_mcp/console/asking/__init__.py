"""`/ask`: questions to a model over HTTP, for the page and for programs."""
