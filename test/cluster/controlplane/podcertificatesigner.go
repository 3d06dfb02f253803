// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/test/utils/hermeticpodcertificatesigner"
)

// runPodCertificateSigner is upstream's own PodCertificateRequest signer: the peer of our benches.
func runPodCertificateSigner() {
	set := pflag.NewFlagSet("podcertificatesigner", pflag.ExitOnError)
	kubeconfig := set.String("kubeconfig", "", "who it is")
	signerName := set.String("signer-name", "", "the signer name that it serves")
	qps := set.Float32("qps", -1, "requests a second; below 0: no limit; 0: client-go's default, as shipped")
	must("reading flags", set.Parse(os.Args[1:]))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	config := got[*rest.Config]("reading the kubeconfig")(clientcmd.BuildConfigFromFlags("", *kubeconfig))
	config.QPS = *qps
	keys, certificates, err := hermeticpodcertificatesigner.GenerateCAHierarchy(0)
	must("making a CA", err)
	newUpstreamSigner(*signerName, keys, certificates, kubernetes.NewForConfigOrDie(config)).Run(ctx)
}
