// SPDX-License-Identifier: Apache-2.0

// Verify reads a certificate in PEM from stdin, and prints for each name of its arguments whether Go takes the
// certificate for a server of that name.
package main

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	block, _ := pem.Decode(text)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		panic(err)
	}
	accepted := map[string]bool{}
	for _, name := range os.Args[1:] {
		accepted[name] = leaf.VerifyHostname(name) == nil
	}
	if err := json.NewEncoder(os.Stdout).Encode(accepted); err != nil {
		panic(err)
	}
}
