"""What runs `ask`: one question, a conversation, an evaluation."""
