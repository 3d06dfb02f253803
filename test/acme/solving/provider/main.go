// SPDX-License-Identifier: Apache-2.0

// Command provider is a DNS provider as its author ships it for cert-manager: cert-manager's own server for such
// providers, with cert-manager's own solver for RFC 2136 behind it.
package main

import (
	"fmt"
	"os"

	"github.com/cert-manager/cert-manager/pkg/acme/webhook/cmd"
	"github.com/cert-manager/cert-manager/pkg/issuer/acme/dns/rfc2136"

	"countersign.dev/test/owner"
)

func main() {
	owner.End()
	group := os.Getenv("GROUP_NAME")
	if group == "" {
		fmt.Fprintln(os.Stderr, "GROUP_NAME: want the API group to serve")
		os.Exit(2)
	}
	cmd.RunWebhookServer(group, rfc2136.New())
}
