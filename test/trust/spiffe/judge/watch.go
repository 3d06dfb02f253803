// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/spiffebundle"
	"github.com/spiffe/go-spiffe/v2/federation"
)

// A consumer that verifies the endpoint by the bundle that it saw last.
type watcher struct{ known *spiffebundle.Set }

func (watcher watcher) NextRefresh(hint time.Duration) time.Duration {
	return max(hint, time.Second)
}

func (watcher watcher) OnUpdate(bundle *spiffebundle.Bundle) {
	watcher.known.Add(bundle)
	if err := print(bundle, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (watcher watcher) OnError(err error) {
	fmt.Fprintln(os.Stderr, err)
}

func watch(domain, url, bundleFile, endpoint string) error {
	name, id, first, err := parseEndpoint(domain, bundleFile, endpoint)
	if err != nil {
		return err
	}
	known := spiffebundle.NewSet(first)
	return federation.WatchBundle(context.Background(), name, url, watcher{known}, federation.WithSPIFFEAuth(known, id))
}
