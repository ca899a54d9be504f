"""Reading an environment as an operator does: logs, metrics, traces, dashboards, history, owners; and concluding."""
