"""From evidence to a report: the checks are run, findings gathered, a verdict drawn."""
