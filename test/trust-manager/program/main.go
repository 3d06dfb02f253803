// SPDX-License-Identifier: Apache-2.0

// Command trustmanager is what of cert-manager's trust-manager copies bundles into namespaces, for tests: its own
// controller, put together as its command does, without its webhook and with no port of its own.
package main

import (
	"fmt"
	"os"

	trust "github.com/cert-manager/trust-manager/pkg/apis/trust/v1alpha1"
	"github.com/cert-manager/trust-manager/pkg/bundle"
	"github.com/cert-manager/trust-manager/pkg/bundle/controller"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"countersign.dev/test/owner"
)

func main() {
	owner.End()
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "arguments: want a kubeconfig and the namespace of sources")
		os.Exit(2)
	}
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must("read the kubeconfig", err)
	scheme := runtime.NewScheme()
	must("know the kinds", clientgoscheme.AddToScheme(scheme))
	must("know the kinds", trust.AddToScheme(scheme))
	options := controller.Options{Namespace: os.Args[2]}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache:   bundle.CacheOpts(options),
	})
	must("make a manager", err)
	ctx := ctrl.SetupSignalHandler()
	must("set the controller up", bundle.SetupWithManager(ctx, manager, options))
	go func() {
		if manager.GetCache().WaitForCacheSync(ctx) {
			fmt.Println("{}")
		}
	}()
	must("run", manager.Start(ctx))
}

// must ends the process with a message when what it was about to do failed.
func must(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "trustmanager: %s: %v\n", doing, err)
		os.Exit(1)
	}
}
