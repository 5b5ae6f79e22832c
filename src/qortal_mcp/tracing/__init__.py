"""Traces for OpenTelemetry, an extra: the only code that imports it, and only if it is switched on."""
