"""Whether what an answer says occurs in what the tools returned. No model is asked."""
