// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"time"
)

// judgeChain verifies a leaf at a moment. A question is eight bytes of Unix seconds, the leaf, and
// then the others, each after a byte that says whether it is a root.
func judgeChain(data []byte) answer {
	leaf, options, err := readChain(data)
	if err != nil {
		return answer{refused, err.Error()}
	}
	if err := verify(leaf, options); err != nil {
		return answer{parsed, err.Error()}
	}
	return answer{level: accepted}
}

func readChain(data []byte) (*x509.Certificate, x509.VerifyOptions, error) {
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool()}
	if len(data) < 8 {
		return nil, options, errCutOff
	}
	options.CurrentTime = time.Unix(int64(binary.BigEndian.Uint64(data)), 0)
	der, rest, err := take(data[8:])
	if err != nil {
		return nil, options, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, options, err
	}
	for len(rest) > 0 {
		pool := options.Intermediates
		if rest[0] == 1 {
			pool = options.Roots
		}
		der, rest, err = take(rest[1:])
		if err != nil {
			return nil, options, err
		}
		other, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, options, err
		}
		pool.AddCert(other)
	}
	return leaf, options, nil
}

// verify wants a path for every purpose that the leaf says it is for: Go looks at one at a time.
func verify(leaf *x509.Certificate, options x509.VerifyOptions) error {
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
