// SPDX-License-Identifier: Apache-2.0

// Program program issues leaves with crypto/x509: the contender `go` of `make bench-issue`.
package main

import (
	"bufio"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log"
	"math/big"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// What bench/issue/work.ts writes.
type work struct {
	Certificate string
	Key         string
	Requests    struct {
		CSR []string
		PCR []string
	}
}

type issuer struct {
	certificate *x509.Certificate
	key         crypto.Signer
	roots       *x509.CertPool
	requests    [][]byte
	isPod       bool
	isWhole     bool
}

// Arguments: the work's file, csr or pcr, and issue or whole.
func main() {
	runtime.GOMAXPROCS(1)
	issuer := newIssuer(os.Args[1], os.Args[2] == "pcr", os.Args[3] == "whole")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		count := must(strconv.Atoi(lines.Text()))
		before := cpuMicroseconds()
		var last []byte
		for i := range count {
			last = issuer.issue(i)
		}
		spent := cpuMicroseconds() - before
		answer := map[string]any{"cpuMicroseconds": spent, "last": base64.StdEncoding.EncodeToString(last)}
		fmt.Println(string(must(json.Marshal(answer))))
	}
}

func newIssuer(path string, isPod, isWhole bool) *issuer {
	var work work
	check(json.Unmarshal(must(os.ReadFile(path)), &work))
	certificate := must(x509.ParseCertificate(block(work.Certificate)))
	key := must(x509.ParsePKCS8PrivateKey(block(work.Key))).(crypto.Signer)
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	encoded := work.Requests.CSR
	if isPod {
		encoded = work.Requests.PCR
	}
	made := &issuer{certificate: certificate, key: key, roots: roots, isPod: isPod, isWhole: isWhole}
	for _, each := range encoded {
		made.requests = append(made.requests, must(base64.StdEncoding.DecodeString(each)))
	}
	return made
}

func (by *issuer) issue(i int) []byte {
	request := must(x509.ParseCertificateRequest(by.requests[i%len(by.requests)]))
	if by.isWhole {
		check(request.CheckSignature())
	}
	begin := time.Now().Add(-time.Minute)
	template := &x509.Certificate{
		SerialNumber:          serial(),
		NotBefore:             begin,
		NotAfter:              begin.Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		SubjectKeyId:          keyIdentifier(request.PublicKey),
	}
	if by.isPod {
		template.URIs = []*url.URL{must(url.Parse("spiffe://cluster.local/ns/team-a/sa/web"))}
	} else {
		template.Subject = pkix.Name{
			CommonName:   request.Subject.CommonName,
			Organization: request.Subject.Organization,
		}
	}
	// It verifies its own signature before it returns.
	der := must(x509.CreateCertificate(rand.Reader, template, by.certificate, request.PublicKey, by.key))
	if by.isWhole {
		leaf := must(x509.ParseCertificate(der))
		options := x509.VerifyOptions{Roots: by.roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
		must(leaf.Verify(options))
	}
	return der
}

func serial() *big.Int {
	bytes := make([]byte, 16)
	must(rand.Read(bytes))
	bytes[0] = bytes[0]&0x3f | 0x40
	return new(big.Int).SetBytes(bytes)
}

func keyIdentifier(key any) []byte {
	sum := sha1.Sum(must(key.(*ecdsa.PublicKey).Bytes()))
	return sum[:]
}

// User and system time of all threads, the collector's among them.
func cpuMicroseconds() int64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
}

func block(text string) []byte {
	found, _ := pem.Decode([]byte(text))
	return found.Bytes
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
