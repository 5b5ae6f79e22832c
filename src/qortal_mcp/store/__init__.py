"""A Valkey or Redis server that several processes share: how it is reached, and left alone while it is away.

It keeps nothing that is not also somewhere else, so nobody fails without it. `valkey` is imported by `connection` alone.
"""
