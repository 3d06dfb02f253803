// SPDX-License-Identifier: Apache-2.0

// go-client calls a server and takes it only if it has the SPIFFE ID that is expected. It needs no Workload API: a kubelet
// writes the files, and each connection reads what is there.
//
//	go-client https://nginx.shop.svc/ spiffe://cluster.local/ns/shop/sa/nginx
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

const directory = "/run/tls/"

// files are what the kubelet keeps up to date.
type files struct{}

func (files) GetX509SVID() (*x509svid.SVID, error) {
	return x509svid.Load(directory+"chain.pem", directory+"key.pem")
}

func (files) GetX509BundleForTrustDomain(domain spiffeid.TrustDomain) (*x509bundle.Bundle, error) {
	return x509bundle.Load(domain, directory+"trust.pem")
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: go-client URL SPIFFE-ID")
	}
	server, err := spiffeid.FromString(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	config := tlsconfig.MTLSClientConfig(files{}, files{}, tlsconfig.AuthorizeID(server))
	client := http.Client{
		Transport: &http.Transport{TLSClientConfig: config},
		Timeout:   30 * time.Second,
	}
	answer, err := client.Get(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s from %s: %s", answer.Status, server, body)
}
