// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// runStatusWriter measures how many certificates a second an API server takes at most: everything
// is minted before the clock starts, what is timed is the writing of statuses alone.
func runStatusWriter() {
	set := pflag.NewFlagSet("pcr-status-writer", pflag.ExitOnError)
	kubeconfig := set.String("kubeconfig", "", "who it is")
	signerName := set.String("signer-name", "", "the signer name whose pending requests are answered")
	inFlight := set.Int("in-flight", 16, "writes under way at once")
	must("reading flags", set.Parse(os.Args[1:]))

	config := got[*rest.Config]("reading the kubeconfig")(clientcmd.BuildConfigFromFlags("", *kubeconfig))
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client := kubernetes.NewForConfigOrDie(config)
	answers := mint(client, *signerName)
	start := time.Now()
	must("writing a status", writeAll(client, answers, *inFlight))
	must("printing", json.NewEncoder(os.Stdout).Encode(map[string]any{
		"count": len(answers), "seconds": time.Since(start).Seconds(),
	}))
}

func mint(client kubernetes.Interface, signerName string) []*podCertificateRequest {
	list, err := podCertificateRequests(client, metav1.NamespaceAll).List(context.Background(),
		metav1.ListOptions{FieldSelector: "spec.signerName=" + signerName})
	must("listing requests", err)
	key := newKey()
	root := template("bench", "")
	root.IsCA, root.KeyUsage = true, x509.KeyUsageCertSign
	der := got[[]byte]("signing the CA")(x509.CreateCertificate(rand.Reader, root, root, key.Public(), key))
	ca := authority{got[*x509.Certificate]("reading the CA")(x509.ParseCertificate(der)), key}

	var answers []*podCertificateRequest
	for i := range list.Items {
		if request := &list.Items[i]; len(request.Status.Conditions) == 0 {
			ca.answer(request)
			answers = append(answers, request)
		}
	}
	return answers
}

func (ca authority) answer(request *podCertificateRequest) {
	public, err := publicKeyOf(request)
	must("reading a request", err)
	lifetime := 24 * time.Hour
	if seconds := request.Spec.MaxExpirationSeconds; seconds != nil {
		lifetime = min(lifetime, time.Duration(*seconds)*time.Second)
	}
	notBefore := time.Now().Truncate(time.Second)
	leaf := &x509.Certificate{
		SerialNumber: got[*big.Int]("drawing a serial number")(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))),
		DNSNames:     []string{"bench.example.com"},
		NotBefore:    notBefore,
		NotAfter:     notBefore.Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der := got[[]byte]("signing a leaf")(x509.CreateCertificate(rand.Reader, leaf, ca.certificate, public, ca.key))
	at := func(t time.Time) *metav1.Time { return &metav1.Time{Time: t} }
	request.Status.CertificateChain = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	request.Status.NotBefore = at(leaf.NotBefore)
	request.Status.BeginRefreshAt = at(notBefore.Add(lifetime / 2))
	request.Status.NotAfter = at(leaf.NotAfter)
	request.Status.Conditions = []metav1.Condition{{
		Type: issuedCondition, Status: metav1.ConditionTrue, Reason: "Issued", Message: "bench",
		LastTransitionTime: *at(notBefore),
	}}
}

func writeAll(client kubernetes.Interface, answers []*podCertificateRequest, inFlight int) error {
	queue := make(chan *podCertificateRequest)
	failures := make([]error, inFlight)
	var writers sync.WaitGroup
	for i := range inFlight {
		writers.Go(func() {
			for answer := range queue {
				_, err := podCertificateRequests(client, answer.Namespace).
					UpdateStatus(context.Background(), answer, metav1.UpdateOptions{})
				failures[i] = errors.Join(failures[i], err)
			}
		})
	}
	for _, answer := range answers {
		queue <- answer
	}
	close(queue)
	writers.Wait()
	return errors.Join(failures...)
}
