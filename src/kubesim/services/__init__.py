"""The services around a cluster that agents read and write beside its API: metrics, traces, dashboards, GitOps, CI."""
