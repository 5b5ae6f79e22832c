"""uvicorn's connections with the limits they lack, and what we rely on inside uvicorn for that."""
