// SPDX-License-Identifier: Apache-2.0

// Judges a leaf as a client in Go may: `judge ROOTS LEAF`. It verifies the chain, fetches the CRL from the leaf's
// own distribution point, and looks for the leaf on it. Exit code 1: refused, for the reason on stderr.
package main

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := judge(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("accepted")
}

func judge(rootsFile, leafFile string) error {
	roots, err := certificates(rootsFile)
	if err != nil {
		return err
	}
	leaves, err := certificates(leafFile)
	if err != nil {
		return err
	}
	leaf, pool := leaves[0], x509.NewCertPool()
	for _, root := range roots {
		pool.AddCert(root)
	}
	any := []x509.ExtKeyUsage{x509.ExtKeyUsageAny}
	chains, err := leaf.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: any})
	if err != nil {
		return err
	}
	if len(leaf.CRLDistributionPoints) != 1 {
		return fmt.Errorf("the leaf has %d distribution points", len(leaf.CRLDistributionPoints))
	}
	return notListed(leaf, chains[0][1])
}

func notListed(leaf, issuer *x509.Certificate) error {
	list, err := fetch(leaf.CRLDistributionPoints[0])
	if err != nil {
		return err
	}
	if err := list.CheckSignatureFrom(issuer); err != nil {
		return err
	}
	if !bytes.Equal(list.RawIssuer, leaf.RawIssuer) || time.Now().After(list.NextUpdate) {
		return errors.New("the CRL is another CA's, or old")
	}
	for _, each := range list.RevokedCertificateEntries {
		if each.SerialNumber.Cmp(leaf.SerialNumber) == 0 {
			return fmt.Errorf("revoked for the reason %d", each.ReasonCode)
		}
	}
	return nil
}

func fetch(url string) (*x509.RevocationList, error) {
	answer, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	der, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	// RFC 5280 §4.2.1.13, RFC 2585 §4.2: one CRL in DER, of this type.
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != 200 || kind != "application/pkix-crl" {
		return nil, fmt.Errorf("%s answers %s with %q", url, answer.Status, kind)
	}
	return x509.ParseRevocationList(der)
}

func certificates(file string) ([]*x509.Certificate, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return all, nil
}
