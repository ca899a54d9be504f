"""The services around a cluster that clients read and write beside its API: metrics, traces, dashboards, GitOps, CI."""
