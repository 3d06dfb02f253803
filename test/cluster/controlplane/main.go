// SPDX-License-Identifier: Apache-2.0

// Command controlplane is a whole Kubernetes in one program, for tests: it is the component that
// its name or its first argument says. Every component is upstream's own.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"countersign.dev/test/owner"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

var components = map[string]func(){
	"etcd":                    runEtcd,
	"kube-apiserver":          runAPIServer,
	"kube-controller-manager": runControllerManager,
	"kube-scheduler":          runScheduler,
	"kubelet":                 runKubelet,
	"kubectl":                 runKubectl,
	"pki":                     runPKI,
	"podcertificatesigner":    runPodCertificateSigner,
	"pcr-echo":                runEcho,
	"pcr-status-writer":       runStatusWriter,
}

func main() {
	owner.End()
	if run, ok := components[filepath.Base(os.Args[0])]; ok {
		run()
		return
	}
	if len(os.Args) > 1 {
		if run, ok := components[os.Args[1]]; ok {
			// Components read os.Args themselves, and name themselves in their user agent after it.
			os.Args = os.Args[1:]
			run()
			return
		}
	}
	fmt.Fprintf(os.Stderr, "first argument: want one of %q\n", slices.Sorted(maps.Keys(components)))
	os.Exit(2)
}
