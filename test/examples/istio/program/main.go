// SPDX-License-Identifier: Apache-2.0

// Command istiod asks for the certificate of a workload as Istio does, for tests: istio-agent's own code makes
// the key and the request, and that of istiod's registration authority sends it, approves it, awaits the certificate and
// deletes the request. What authenticates the workload is not here.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"istio.io/istio/security/pkg/k8s/chiron"
	"istio.io/istio/security/pkg/pki/util"
	certificates "k8s.io/api/certificates/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"countersign.dev/test/owner"
)

// usages are those of kubernetesSign in security/pkg/pki/ra/k8s_ra.go, whose package needs a thousand others.
var usages = []certificates.KeyUsage{
	certificates.UsageDigitalSignature,
	certificates.UsageKeyEncipherment,
	certificates.UsageServerAuth,
	certificates.UsageClientAuth,
}

func main() {
	owner.End()
	kubeconfig := flag.String("kubeconfig", "", "of istiod's ServiceAccount")
	signer := flag.String("signer", "", "CERT_SIGNER_DOMAIN/ISTIO_META_CERT_SIGNER")
	host := flag.String("host", "", "the SPIFFE ID of the workload; several with commas")
	ecdsa := flag.Bool("ecdsa", false, "ECC_SIGNATURE_ALGORITHM=ECDSA")
	lifetime := flag.Duration("lifetime", 24*time.Hour, "SECRET_TTL")
	approve := flag.Bool("approve", true, "istiod always does; without it our rules decide")
	root := flag.String("root", "", "the file of meshConfig.caCertificates")
	flag.Parse()

	// As generateNewSecret of security/pkg/nodeagent/cache/secretcache.go.
	options := util.CertOptions{Host: *host, RSAKeySize: 2048}
	if *ecdsa {
		options.ECSigAlg = util.EcdsaSigAlg
	}
	request, _, err := util.GenCSR(options)
	must("make the request", err)
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must("read the kubeconfig", err)
	client, err := kubernetes.NewForConfig(config)
	must("make a client", err)
	// As Sign of k8s_ra.go, which appends no CA.
	chain, _, err := chiron.SignCSRK8s(client, request, *signer, usages, "", "", *approve, false, *lifetime)
	must("sign", err)
	// As SignWithCertChain.
	anchor, err := os.ReadFile(*root)
	must("read the root", err)
	must("verify", util.VerifyCertificate(nil, chain, anchor, nil))
	fmt.Print(string(chain))
}

// must ends the process with a message when what it was about to do failed.
func must(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "istiod: %s: %v\n", doing, err)
		os.Exit(1)
	}
}
