//go:build tools

// Package controlplane names the programs that `make control-plane` builds, so that go.mod and go.sum pin all that goes into them.
package controlplane

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)
