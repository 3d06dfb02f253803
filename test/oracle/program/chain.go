// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"time"
)

type chain struct {
	leaf          *x509.Certificate
	roots         []*x509.Certificate
	intermediates []*x509.Certificate
	now           time.Time
}

// judgeChain verifies a leaf at a moment. A question is eight bytes of Unix seconds, the leaf, and
// then the others, each after a byte that says whether it is a root.
func judgeChain(data []byte) answer {
	found, err := readChain(data)
	if err != nil {
		return answer{refused, err.Error()}
	}
	if err := verify(found); err != nil {
		return answer{parsed, err.Error()}
	}
	return answer{level: accepted}
}

func readChain(data []byte) (chain, error) {
	if len(data) < 8 {
		return chain{}, errCutOff
	}
	der, rest, err := take(data[8:])
	if err != nil {
		return chain{}, err
	}
	found := chain{now: time.Unix(int64(binary.BigEndian.Uint64(data)), 0)}
	if found.leaf, err = x509.ParseCertificate(der); err != nil {
		return found, err
	}
	for len(rest) > 0 {
		isRoot := rest[0] == 1
		der, rest, err = take(rest[1:])
		if err != nil {
			return found, err
		}
		other, err := x509.ParseCertificate(der)
		if err != nil {
			return found, err
		}
		if isRoot {
			found.roots = append(found.roots, other)
		} else {
			found.intermediates = append(found.intermediates, other)
		}
	}
	return found, nil
}

func poolOf(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, each := range certificates {
		pool.AddCert(each)
	}
	return pool
}

// verify wants a path for every purpose that the leaf says it is for: Go looks at one at a time.
func verify(found chain) error {
	leaf := found.leaf
	options := x509.VerifyOptions{
		Roots:         poolOf(found.roots),
		Intermediates: poolOf(found.intermediates),
		CurrentTime:   found.now,
	}
	purposes := append([]x509.ExtKeyUsage{x509.ExtKeyUsageAny}, leaf.ExtKeyUsage...)
	if len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) == 0 {
		purposes = append(purposes, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
	}
	for _, purpose := range purposes {
		options.KeyUsages = []x509.ExtKeyUsage{purpose}
		if _, err := leaf.Verify(options); err != nil {
			return fmt.Errorf("for purpose %d: %w", purpose, err)
		}
	}
	return nil
}
