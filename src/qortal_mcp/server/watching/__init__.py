"""What operators are told about requests: log lines, labels of metrics, spans."""
