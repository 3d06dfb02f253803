// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// mintAgain is well within the five minutes that a notBefore may be old.
const mintAgain = 2 * time.Minute

// runEcho answers each request with a certificate that was made before it came: what a watch and a
// write cost, and nothing else. It knows the keys that it will be asked for.
func runEcho() {
	set := pflag.NewFlagSet("pcr-echo", pflag.ExitOnError)
	kubeconfig := set.String("kubeconfig", "", "who it is")
	signerName := set.String("signer-name", "", "the signer name whose requests are answered")
	stubsFile := set.String("stubs", "", "a JSON array of the PKCS#10 requests to come, base64")
	inFlight := set.Int("in-flight", 16, "writes under way at once")
	must("reading flags", set.Parse(os.Args[1:]))

	config := got[*rest.Config]("reading the kubeconfig")(clientcmd.BuildConfigFromFlags("", *kubeconfig))
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client := kubernetes.NewForConfigOrDie(config)
	echo := newEcho(got[[]byte]("reading the stubs")(os.ReadFile(*stubsFile)))
	queue := make(chan *podCertificateRequest, 100_000)
	for range *inFlight {
		go echo.write(client, queue)
	}
	options := metav1.ListOptions{FieldSelector: "spec.signerName=" + *signerName}
	for {
		events := got[watch.Interface]("watching")(
			podCertificateRequests(client, metav1.NamespaceAll).Watch(context.Background(), options))
		fmt.Println("watching")
		for event := range events.ResultChan() {
			request, ok := event.Object.(*podCertificateRequest)
			if !ok {
				// Too old a version, most likely: from the present on, what is pending included.
				options.ResourceVersion = ""
				continue
			}
			options.ResourceVersion = request.ResourceVersion
			if event.Type == watch.Added && len(request.Status.Conditions) == 0 {
				queue <- request
			}
		}
	}
}

// echo holds an answer for each key; all of them are replaced before they are too old.
type echo struct {
	ca    authority
	mutex sync.RWMutex
	// By the bytes of the stub.
	answers map[string]*podCertificateRequest
}

func newEcho(stubs []byte) *echo {
	var all [][]byte
	must("reading the stubs", json.Unmarshal(stubs, &all))
	key := newKey()
	root := template("bench", "")
	root.IsCA, root.KeyUsage = true, x509.KeyUsageCertSign
	der := got[[]byte]("signing the CA")(x509.CreateCertificate(rand.Reader, root, root, key.Public(), key))
	made := &echo{ca: authority{got[*x509.Certificate]("reading the CA")(x509.ParseCertificate(der)), key}}
	made.mint(all)
	go func() {
		for range time.Tick(mintAgain) {
			made.mint(all)
		}
	}()
	return made
}

func (e *echo) mint(stubs [][]byte) {
	answers := make(map[string]*podCertificateRequest, len(stubs))
	for _, stub := range stubs {
		answer := &podCertificateRequest{}
		answer.Spec.StubPKCS10Request = stub
		e.ca.answer(answer)
		answers[string(stub)] = answer
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.answers = answers
}

func (e *echo) write(client kubernetes.Interface, queue <-chan *podCertificateRequest) {
	for request := range queue {
		e.mutex.RLock()
		answer, ok := e.answers[string(request.Spec.StubPKCS10Request)]
		e.mutex.RUnlock()
		if !ok {
			fmt.Fprintf(os.Stderr, "%s: nobody told of its key\n", request.Name)
			os.Exit(1)
		}
		request.Status = answer.Status
		_, err := podCertificateRequests(client, request.Namespace).
			UpdateStatus(context.Background(), request, metav1.UpdateOptions{})
		must("writing a status", err)
	}
}
