"""What a person sees: answers, tools and schemas as text for a terminal."""
