"""What a server offers: tools, resources, prompts, and the list of them."""
