"""Phase 3: plans probes, admits only sound ones, runs them through the core's own path and confirms what they find."""
