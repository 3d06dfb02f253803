// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	"github.com/spiffe/go-spiffe/v2/bundle/spiffebundle"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

func verify(domain, bundleFile, chainFile string) error {
	name, err := spiffeid.TrustDomainFromString(domain)
	if err != nil {
		return err
	}
	bundle, err := load(name, bundleFile)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(chainFile)
	if err != nil {
		return err
	}
	// A credential bundle of the kubelet begins with the key.
	var chain [][]byte
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			chain = append(chain, block.Bytes)
		}
	}
	id, _, err := x509svid.ParseAndVerify(chain, bundle)
	if err != nil {
		return err
	}
	if err := verifyX509(chain, bundle); err != nil {
		return err
	}
	fmt.Println(id)
	return nil
}

// A SPIFFE bundle as an endpoint serves it, or PEM as a workload mounts it.
func load(name spiffeid.TrustDomain, file string) (*x509bundle.Bundle, error) {
	if strings.HasSuffix(file, ".pem") {
		return x509bundle.Load(name, file)
	}
	bundle, err := spiffebundle.Load(name, file)
	if err != nil {
		return nil, err
	}
	return bundle.X509Bundle(), nil
}

// Who knows nothing of SPIFFE, on either side of a connection.
func verifyX509(chain [][]byte, bundle *x509bundle.Bundle) error {
	leaf, err := x509.ParseCertificate(chain[0])
	if err != nil {
		return err
	}
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	for _, authority := range bundle.X509Authorities() {
		roots.AddCert(authority)
	}
	for _, each := range chain[1:] {
		certificate, err := x509.ParseCertificate(each)
		if err != nil {
			return err
		}
		intermediates.AddCert(certificate)
	}
	for _, purpose := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		usages := []x509.ExtKeyUsage{purpose}
		options := x509.VerifyOptions{Roots: roots, Intermediates: intermediates, KeyUsages: usages}
		if _, err := leaf.Verify(options); err != nil {
			return err
		}
	}
	return nil
}
