// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
)

// A cluster lives for one test run; a week leaves room for `make cluster`.
const lifetime = 7 * 24 * time.Hour

type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// runPKI writes what a control plane needs to start: two CAs (one for clients, one for servers, so
// that neither can pass for the other), a leaf for each component and the ServiceAccount key.
func runPKI() {
	set := pflag.NewFlagSet("pki", pflag.ExitOnError)
	directory := set.String("directory", "", "where the files go")
	nodes := set.StringSlice("node", nil, "name of a node, may be repeated")
	must("reading flags", set.Parse(os.Args[1:]))
	must("making the directory", os.MkdirAll(*directory, 0o700))

	clients := newAuthority(*directory, "client-ca")
	servers := newAuthority(*directory, "server-ca")
	server := template("kube-apiserver", "", x509.ExtKeyUsageServerAuth)
	server.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	// Loopback, and the first address of each range of Services: see real-pods/addresses.ts.
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1), net.IPv6loopback, net.ParseIP("fd00:10::1")}
	servers.issue(*directory, "apiserver", server)

	client := func(file, name, group string) {
		clients.issue(*directory, file, template(name, group, x509.ExtKeyUsageClientAuth))
	}
	client("admin", "countersign-test-admin", "system:masters")
	client("kube-controller-manager", "system:kube-controller-manager", "")
	client("kube-scheduler", "system:kube-scheduler", "")
	// The API server as a client of kubelets; with them it may do all.
	client("kubelet-client", "kube-apiserver-kubelet-client", "system:masters")
	for _, node := range *nodes {
		client(node, "system:node:"+node, "system:nodes")
		serving := template("system:node:"+node, "system:nodes", x509.ExtKeyUsageServerAuth)
		serving.DNSNames, serving.IPAddresses = []string{node}, []net.IP{net.IPv4(127, 0, 0, 1)}
		servers.issue(*directory, node+"-serving", serving)
	}
	key := newKey()
	writeKey(*directory, "service-accounts.key", key)
	public := got[[]byte]("encoding a public key")(x509.MarshalPKIXPublicKey(key.Public()))
	writePEM(*directory, "service-accounts.pub", "PUBLIC KEY", public)
}

func newAuthority(directory, name string) authority {
	key := newKey()
	root := template("countersign-test-"+name, "")
	root.IsCA, root.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	der := got[[]byte]("signing a CA")(x509.CreateCertificate(rand.Reader, root, root, key.Public(), key))
	writePEM(directory, name+".crt", "CERTIFICATE", der)
	writeKey(directory, name+".key", key)
	return authority{got[*x509.Certificate]("reading a CA")(x509.ParseCertificate(der)), key}
}

func (ca authority) issue(directory, file string, leaf *x509.Certificate) {
	key := newKey()
	der := got[[]byte]("signing a leaf")(x509.CreateCertificate(rand.Reader, leaf, ca.certificate, key.Public(), ca.key))
	writePEM(directory, file+".crt", "CERTIFICATE", der)
	writeKey(directory, file+".key", key)
}

func template(commonName, organization string, usages ...x509.ExtKeyUsage) *x509.Certificate {
	subject := pkix.Name{CommonName: commonName}
	if organization != "" {
		subject.Organization = []string{organization}
	}
	serial := got[*big.Int]("drawing a serial number")(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)))
	return &x509.Certificate{
		SerialNumber:          serial.Add(serial, big.NewInt(1)),
		Subject:               subject,
		NotBefore:             time.Now().Add(-time.Minute),
		NotAfter:              time.Now().Add(lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           usages,
		BasicConstraintsValid: true,
	}
}

func newKey() *ecdsa.PrivateKey {
	return got[*ecdsa.PrivateKey]("making a key")(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
}

func writeKey(directory, file string, key crypto.Signer) {
	writePEM(directory, file, "PRIVATE KEY", got[[]byte]("encoding a key")(x509.MarshalPKCS8PrivateKey(key)))
}

func writePEM(directory, file, kind string, der []byte) {
	block := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	must("writing "+file, os.WriteFile(filepath.Join(directory, file), block, 0o600))
}
