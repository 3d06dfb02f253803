// SPDX-License-Identifier: Apache-2.0

// Command certmanager is what of cert-manager turns a Certificate into a Secret, for tests: its own
// controllers, and its own admission webhook without which nobody knows who asked. Everything here
// is upstream's own, put together as its commands do.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"countersign.dev/test/owner"
)

var parts = map[string]func(){
	"controllers":    runControllers,
	"webhook":        runWebhook,
	"controller-pod": runControllerPod,
	"webhook-pod":    runWebhookPod,
	"cainjector-pod": runInjectorPod,
}

func main() {
	owner.End()
	if len(os.Args) > 1 {
		if run, ok := parts[os.Args[1]]; ok {
			os.Args = os.Args[1:]
			run()
			return
		}
	}
	fmt.Fprintf(os.Stderr, "first argument: want one of %q\n", slices.Sorted(maps.Keys(parts)))
	os.Exit(2)
}

// must ends the process with a message when what it was about to do failed.
func must(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s: %v\n", filepath.Base(os.Args[0]), doing, err)
		os.Exit(1)
	}
}
