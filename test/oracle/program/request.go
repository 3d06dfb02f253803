// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
)

func judgeRequest(der []byte) answer {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		return answer{refused, err.Error()}
	}
	if err := request.CheckSignature(); err != nil {
		return answer{parsed, err.Error()}
	}
	return answer{level: accepted}
}

func judgeCertificate(der []byte) answer {
	if _, err := x509.ParseCertificate(der); err != nil {
		return answer{refused, err.Error()}
	}
	return answer{level: accepted}
}

// judgeRequestPEM reads spec.request as the API server does (pkg/apis/certificates/helpers.go,
// ParseCSR, and validation.go, which refuses headers). The reason of an acceptance is the SHA-256 of
// what was read.
func judgeRequestPEM(text []byte) answer {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return answer{refused, "PEM block type must be CERTIFICATE REQUEST"}
	}
	if len(block.Headers) != 0 {
		return answer{refused, "PEM block has headers"}
	}
	return answer{accepted, digest(block.Bytes)}
}

// judgeBundlePEM reads certificates as the API server reads a trust bundle (validation.go). The
// reason of an acceptance is the SHA-256 of what was read.
func judgeBundlePEM(text []byte) answer {
	var all []byte
	for {
		var block *pem.Block
		block, text = pem.Decode(text)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) != 0 {
			return answer{refused, "a block of another type, or with headers"}
		}
		all = append(all, block.Bytes...)
	}
	if all == nil {
		return answer{refused, "no block"}
	}
	return answer{accepted, digest(all)}
}

func digest(of []byte) string {
	sum := sha256.Sum256(of)
	return hex.EncodeToString(sum[:])
}
