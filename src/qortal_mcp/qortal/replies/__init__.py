"""What Core answers, typed where it arrives: one file for each family of addresses.

Core may grow, so unknown members are allowed. It drops members that are null, so those have a default.
Amounts are put right here; text by strangers is made printable and cut here, once, before anyone sees it.
"""
