"""What is handed out: the built files, what registries are told of them, and the release itself. Not part of the product."""
