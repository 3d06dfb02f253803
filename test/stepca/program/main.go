// SPDX-License-Identifier: Apache-2.0

// Command stepca is smallstep's CA server, for tests: its own server, put together as its command does,
// without the cloud's key stores.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/smallstep/certificates/acme"
	"github.com/smallstep/certificates/authority/config"
	"github.com/smallstep/certificates/ca"

	"countersign.dev/test/owner"
)

func main() {
	owner.End()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "first argument: want a ca.json")
		os.Exit(2)
	}
	loaded, err := config.LoadConfiguration(os.Args[1])
	must("read the configuration", err)
	// As its flag --acme-http-port: nobody here listens on port 80.
	if port := os.Getenv("ACME_HTTP_PORT"); port != "" {
		acme.InsecurePortHTTP01, err = strconv.Atoi(port)
		must("read ACME_HTTP_PORT", err)
	}
	server, err := ca.New(loaded)
	must("start", err)
	go ca.StopHandler(server)
	must("serve", server.Run())
}

// must ends the process with a message when what it was about to do failed.
func must(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "stepca: %s: %v\n", doing, err)
		os.Exit(1)
	}
}
