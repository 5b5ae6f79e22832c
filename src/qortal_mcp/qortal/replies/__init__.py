"""What Core answers, typed where it arrives: one file for each family of addresses.

Core may grow, so unknown members are allowed. It drops members that are null, so those have a default.
Amounts are put right and text by strangers is made printable and cut by the types of the fields; see `reply.py`.
"""
