"""Contract suites for authors of plug-ins: the promises of the ports, as test classes to inherit."""
