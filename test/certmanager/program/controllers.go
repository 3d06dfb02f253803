// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/acmechallenges"
	_ "github.com/cert-manager/cert-manager/pkg/controller/acmeorders"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/acme"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/acme"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

// As many as cert-manager's own default.
const workers = 5

// What turns a CertificateRequest of an ACME issuer into a certificate.
var acme = []string{"certificaterequests-issuer-acme", "challenges", "clusterissuers", "orders"}

// runControllers runs every controller that is imported above until it is killed: those of ACME, or all
// others. It takes no Lease: whoever starts it starts one.
func runControllers() {
	flags := flag.NewFlagSet("controllers", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "as whom they work")
	// An hour in cert-manager: a test cannot wait that long for a second attempt.
	backoff := flags.Duration("minimum-backoff", time.Hour, "how long after a failure the next attempt comes")
	onlyAcme := flags.Bool("acme", false, "run the controllers of ACME issuers, and no others")
	nameserver := flags.String("nameserver", "", "host:port that is asked for zones of DNS-01")
	must("reading flags", flags.Parse(os.Args[1:]))

	ctx := logf.NewContext(context.Background(), logf.Log)
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig: *kubeconfig,
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: *backoff,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
			// The command's own default.
			CopiedAnnotationPrefixes: []string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"},
		},
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: "cert-manager"},
		// The command's own defaults, but for where DNS is asked.
		SchedulerOptions: controller.SchedulerOptions{MaxConcurrentChallenges: 60},
		ACMEOptions: controller.ACMEOptions{
			DNS01CheckRetryPeriod: 10 * time.Second,
			DNS01Nameservers:      []string{*nameserver},
			HTTP01SolverImage:     "example.com/unused",
		},
	})
	must("connecting", err)
	shared, err := factory.Build()
	must("building the shared context", err)
	var running sync.WaitGroup
	for name, construct := range controller.Known() {
		if slices.Contains(acme, name) != *onlyAcme {
			continue
		}
		made, err := construct(factory)
		must("making "+name, err)
		running.Go(func() { must("running "+name, made.Run(workers, ctx)) })
	}
	// Only now: a factory starts the informers that somebody asked for before.
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	fmt.Println("{}")
	running.Wait()
}
