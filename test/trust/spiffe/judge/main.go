// SPDX-License-Identifier: Apache-2.0

// Command spiffejudge is go-spiffe in the hands of the tests: a client of bundle endpoints, and a server of one.
//
//	spiffejudge fetch web TRUST_DOMAIN URL CA.pem
//	spiffejudge fetch spiffe TRUST_DOMAIN URL BUNDLE.json ENDPOINT_ID
//	spiffejudge serve TRUST_DOMAIN BUNDLE.json CERTIFICATE.pem KEY.pem
//	spiffejudge verify TRUST_DOMAIN BUNDLE.(json|pem) CHAIN.pem
//	spiffejudge watch TRUST_DOMAIN URL BUNDLE.json ENDPOINT_ID
//
// fetch prints what go-spiffe read as JSON; serve prints its port and reads the bundle again for each request; verify
// prints the SPIFFE ID, once Go's x509 verified the chain, too; watch prints each bundle that it sees until it is ended.
// Exit code 1: go-spiffe or x509 refused, for the reason on stderr.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/spiffebundle"
	"github.com/spiffe/go-spiffe/v2/federation"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 5 && args[0] == "fetch" && args[1] == "web":
		return fetchWeb(args[2], args[3], args[4])
	case len(args) == 6 && args[0] == "fetch" && args[1] == "spiffe":
		return fetchSpiffe(args[2], args[3], args[4], args[5])
	case len(args) == 5 && args[0] == "serve":
		return serve(args[1], args[2], args[3], args[4])
	case len(args) == 4 && args[0] == "verify":
		return verify(args[1], args[2], args[3])
	case len(args) == 5 && args[0] == "watch":
		return watch(args[1], args[2], args[3], args[4])
	}
	return fmt.Errorf("unknown arguments: %q", args)
}

func fetchWeb(domain, url, caFile string) error {
	name, err := spiffeid.TrustDomainFromString(domain)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return errors.New("no CA in " + caFile)
	}
	return print(federation.FetchBundle(timeout(), name, url, federation.WithWebPKIRoots(roots)))
}

func fetchSpiffe(domain, url, bundleFile, endpoint string) error {
	name, id, known, err := parseEndpoint(domain, bundleFile, endpoint)
	if err != nil {
		return err
	}
	return print(federation.FetchBundle(timeout(), name, url, federation.WithSPIFFEAuth(known, id)))
}

// Whose bundle an endpoint serves, which ID it must prove, and the bundle that the ID is proven by.
func parseEndpoint(domain, bundleFile, endpoint string) (spiffeid.TrustDomain, spiffeid.ID, *spiffebundle.Bundle, error) {
	name, err := spiffeid.TrustDomainFromString(domain)
	if err != nil {
		return spiffeid.TrustDomain{}, spiffeid.ID{}, nil, err
	}
	id, err := spiffeid.FromString(endpoint)
	if err != nil {
		return spiffeid.TrustDomain{}, spiffeid.ID{}, nil, err
	}
	known, err := spiffebundle.Load(id.TrustDomain(), bundleFile)
	return name, id, known, err
}

func timeout() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	_ = cancel // The process ends with it.
	return ctx
}

// The bundle as go-spiffe reads it; authorities are SHA-256 fingerprints.
type found struct {
	Sequence    uint64   `json:"sequence"`
	HasSequence bool     `json:"hasSequence"`
	RefreshHint float64  `json:"refreshHint"`
	Authorities []string `json:"authorities"`
}

func print(bundle *spiffebundle.Bundle, err error) error {
	if err != nil {
		return err
	}
	sequence, has := bundle.SequenceNumber()
	hint, _ := bundle.RefreshHint()
	result := found{Sequence: sequence, HasSequence: has, RefreshHint: hint.Seconds(), Authorities: []string{}}
	for _, authority := range bundle.X509Authorities() {
		digest := sha256.Sum256(authority.Raw)
		result.Authorities = append(result.Authorities, hex.EncodeToString(digest[:]))
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// A bundle that is read from its file for each request.
type fileSource struct{ file string }

func (source fileSource) GetBundleForTrustDomain(name spiffeid.TrustDomain) (*spiffebundle.Bundle, error) {
	return spiffebundle.Load(name, source.file)
}

func serve(domain, bundleFile, certificateFile, keyFile string) error {
	name, err := spiffeid.TrustDomainFromString(domain)
	if err != nil {
		return err
	}
	handler, err := federation.NewHandler(name, fileSource{bundleFile})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	load := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificateFile, keyFile)
		return &pair, err
	}
	server := &http.Server{
		Handler:           handler,
		TLSConfig:         &tls.Config{GetCertificate: load, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: time.Minute,
	}
	return server.ServeTLS(listener, "", "")
}
