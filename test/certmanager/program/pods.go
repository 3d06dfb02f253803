// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/cert-manager/cert-manager/pkg/api"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/util"
	"github.com/cert-manager/cert-manager/pkg/webhook/server"
	webhook "github.com/cert-manager/cert-manager/test/webhook"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	apireg "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// What the release's Deployments say of ports.
const (
	controllerHealth = ":9403"
	webhookPort      = 10250
	webhookHealth    = 6080
)

// runControllerPod is what a pod of the Deployment cert-manager runs: every controller that is imported. Of the release's
// arguments none changes what a test asks for.
func runControllerPod() {
	healthy(controllerHealth)
	os.Args = os.Args[:1]
	runControllers()
}

// runWebhookPod is what a pod of the Deployment cert-manager-webhook runs, with the release's own arguments: cert-manager's
// webhook with its own serving certificates. Its ports are what a test of its own leaves open.
func runWebhookPod() {
	ctrl.SetLogger(klog.Background())
	args := os.Args[1:]
	os.Args = os.Args[:1]
	all := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "webhook", F: func(t *testing.T) {
		health := webhookHealth
		webhook.StartWebhookServer(t, args, func(s *server.Server) {
			s.ListenAddr, s.HealthzAddr = webhookPort, &health
		})
		select {}
	}}}, nil, nil)
}

// runInjectorPod is what a pod of the Deployment cert-manager-cainjector runs, without its Lease.
func runInjectorPod() {
	os.Args = os.Args[:1]
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	scheme := runtime.NewScheme()
	must("knowing Kubernetes", kscheme.AddToScheme(scheme))
	must("knowing definitions", apiext.AddToScheme(scheme))
	must("knowing aggregation", apireg.AddToScheme(scheme))
	must("knowing cert-manager", api.AddToScheme(scheme))
	config := util.RestConfigWithUserAgent(ctrl.GetConfigOrDie(), "cainjector")
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	must("making the manager", err)
	enabled := map[string]bool{
		cainjector.MutatingWebhookConfigurationName:   true,
		cainjector.ValidatingWebhookConfigurationName: true,
		cainjector.APIServiceName:                     true,
		cainjector.CustomResourceDefinitionName:       true,
	}
	ctx := context.Background()
	must("registering", cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor:        enabled,
	}))
	must("running", manager.Start(ctx))
}

// healthy answers the probes of a Deployment.
func healthy(address string) {
	serving := &http.Server{
		Addr:              address,
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }),
		ReadHeaderTimeout: 32 * time.Second,
	}
	go func() { must("answering probes", serving.ListenAndServe()) }()
}
