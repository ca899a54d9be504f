"""Contract suites for those who write plug-ins: what the ports promise, as tests to inherit."""
