"""Environments on a real control plane: etcd, kube-apiserver and kube-controller-manager as child processes."""
