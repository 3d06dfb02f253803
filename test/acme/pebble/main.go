// SPDX-License-Identifier: Apache-2.0

// Command pebble is Let's Encrypt's ACME server for tests with its challenge server, in one process: Pebble's own
// packages, put together as its command does, and a DNS and HTTP server that tests write into.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"countersign.dev/test/owner"
)

// settings is what a test chooses; addresses are host:port on the loopback interface. Resolver is asked in validations,
// or its own DNS server.
type settings struct {
	Listen, Management, Certificate, Key string
	DNS, Resolver, HTTP01, Records       string
	HTTPPort                             int
	ExternalAccountRequired              bool
	ExternalAccountKeys                  map[string]string
	Blocked                              []string
	AlternateRoots                       int
	Profiles                             map[string]ca.Profile
	RetryAfter                           int
}

func main() {
	owner.End()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "first argument: want a file of settings")
		os.Exit(2)
	}
	var with settings
	text, err := os.ReadFile(os.Args[1])
	must("read the settings", err)
	must("parse the settings", json.Unmarshal(text, &with))

	logger := log.New(os.Stdout, "", 0)
	challenges, err := challtestsrv.New(challtestsrv.Config{
		HTTPOneAddrs: []string{with.HTTP01},
		DNSAddrs:     []string{with.DNS},
		Log:          logger,
	})
	must("make the challenge server", err)
	challenges.SetDefaultDNSIPv4("127.0.0.1")
	challenges.SetDefaultDNSIPv6("")
	go challenges.Run()
	go func() { must("serve records", http.ListenAndServe(with.Records, records(challenges))) }()

	if with.Resolver == "" {
		with.Resolver = with.DNS
	}
	store := db.NewMemoryStore()
	for id, key := range with.ExternalAccountKeys {
		must("add an external account", store.AddExternalAccountKeyByID(id, key))
	}
	for _, name := range with.Blocked {
		must("block a name", store.AddBlockedDomain(name))
	}
	signer := ca.New(logger, store, "", "ecdsa", with.AlternateRoots, 1, with.Profiles)
	validation := va.New(logger, with.HTTPPort, 0, true, with.Resolver, store)
	front := wfe.New(logger, store, validation, signer, []string{"pebble.letsencrypt.org"}, true,
		with.ExternalAccountRequired, with.RetryAfter, with.RetryAfter)
	go func() {
		must("serve the management", http.ListenAndServeTLS(with.Management, with.Certificate, with.Key, front.ManagementHandler()))
	}()
	go func() {
		must("serve", http.ListenAndServeTLS(with.Listen, with.Certificate, with.Key, front.Handler()))
	}()
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, os.Interrupt)
	<-stopped
}

// record is one change of what the challenge server answers.
type record struct{ Name, Value string }

// records answers POST /<change> with a record as JSON.
func records(server *challtestsrv.ChallSrv) http.Handler {
	changes := map[string]func(record){
		"/add-txt":      func(r record) { server.AddDNSTXTRecord(r.Name, r.Value) },
		"/clear-txt":    func(r record) { server.DeleteDNSTXTRecord(r.Name) },
		"/set-cname":    func(r record) { server.AddDNSCNAMERecord(r.Name, r.Value) },
		"/set-servfail": func(r record) { server.AddDNSServFailRecord(r.Name) },
		"/end-servfail": func(r record) { server.DeleteDNSServFailRecord(r.Name) },
		"/add-http01":   func(r record) { server.AddHTTPOneChallenge(r.Name, r.Value) },
		"/clear-http01": func(r record) { server.DeleteHTTPOneChallenge(r.Name) },
	}
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		var change record
		apply, known := changes[request.URL.Path]
		if !known || json.NewDecoder(request.Body).Decode(&change) != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		apply(change)
	})
}

// must ends the process with a message when what it was about to do failed.
func must(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "pebble: %s: %v\n", doing, err)
		os.Exit(1)
	}
}
