"""What a server answers wrongly, put right: pure, one small record for each thing, named like the audit's codes.

`chosen.Repairs` applies them. It never talks to a server, and nothing that a server sends makes it raise.
"""
