// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"flag"
	"math/big"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/cert-manager/cert-manager/pkg/webhook/admission"
	"github.com/cert-manager/cert-manager/pkg/webhook/server"
	webhook "github.com/cert-manager/cert-manager/test/webhook"
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// runWebhook serves /validate and /mutate on a free port of the loopback interface, and says on
// stdout where and by which certificate: {"url": ..., "ca": PEM}.
//
// The package that composes cert-manager's webhook is internal to it; the one that its own tests use
// is not, but wants a *testing.T. So this is the one test of a test program, which never ends.
func runWebhook() {
	// Of its own: controller-runtime has a flag of that name among those of every program.
	flags := flag.NewFlagSet("webhook", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "as whom it asks who may approve")
	must("reading flags", flags.Parse(os.Args[1:]))
	ctrl.SetLogger(klog.Background())
	os.Args = os.Args[:1]
	all := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "webhook", F: func(t *testing.T) {
		serve(compose(t, *kubeconfig))
	}}}, nil, nil)
}

// compose answers with the webhook server as cert-manager puts it together, before it listens: on
// every interface, which a test must not.
func compose(t *testing.T, kubeconfig string) *server.Server {
	var found *server.Server
	t.Run("compose", func(t *testing.T) {
		webhook.StartWebhookServer(t, []string{"--kubeconfig=" + kubeconfig}, func(s *server.Server) {
			found = s
			t.SkipNow()
		})
	})
	if found == nil {
		t.Fatal("cert-manager composed no webhook")
	}
	return found
}

func serve(found *server.Server) {
	mux := http.NewServeMux()
	for path, hook := range map[string]*crwebhook.Webhook{
		"/validate": admission.NewCustomValidationWebhook(found.ResourceScheme, found.ValidationWebhook),
		"/mutate":   admission.NewCustomMutationWebhook(found.MutationWebhook),
	} {
		handler, err := crwebhook.StandaloneWebhook(hook, crwebhook.StandaloneOptions{Logger: logr.Discard()})
		must("making "+path, err)
		mux.Handle(path, handler)
	}
	certificate, authority := selfSigned()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must("listening", err)
	must("saying where", json.NewEncoder(os.Stdout).Encode(map[string]string{
		"url": "https://" + listener.Addr().String(),
		"ca":  string(authority),
	}))
	serving := &http.Server{
		Handler: mux,
		// As cert-manager's own.
		ReadHeaderTimeout: 32 * time.Second,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	must("serving", serving.ServeTLS(listener, "", ""))
}

// selfSigned makes the certificate of one run; whoever calls trusts it and no other.
func selfSigned() (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must("making a key", err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "cert-manager webhook of a test"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must("making a certificate", err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
