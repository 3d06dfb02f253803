// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"

	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/server"
	"k8s.io/kubernetes/pkg/kubelet/types"
	"k8s.io/kubernetes/pkg/kubemark"
)

// useRealRuntime makes a node of an address of its own, whose containers run. There are no cgroups:
// limits are not enforced.
func useRealRuntime(flags kubeletFlags, kubeletFlags *options.KubeletFlags, config *kubeletconfig.KubeletConfiguration) {
	config.ContainerRuntimeEndpoint, config.ImageServiceEndpoint = flags.runtimeEndpoint, flags.runtimeEndpoint
	kubeletFlags.NodeIP = flags.nodeIP
	config.Address = "0.0.0.0"
	if strings.Contains(flags.nodeIP, ":") {
		config.Address = "::"
	}
	config.ClusterDNS, config.ClusterDomain = []string{flags.clusterDNS}, "cluster.local"
	// No host's resolver is asked by a pod.
	config.ResolverConfig = ""
	config.CPUCFSQuota = false
	config.EnforceNodeAllocatable = []string{types.NodeAllocatableNoneKey}
	config.LocalStorageCapacityIsolation = false
	config.Authentication.X509.ClientCAFile = flags.clientCA
	config.Authentication.Anonymous.Enabled = false
	config.Authentication.Webhook.Enabled = true
	config.Authorization.Mode = kubeletconfig.KubeletAuthorizationModeWebhook
}

// serveClients makes logs, exec and port-forward work: for the API server, by its certificate, and for
// whom the API server allows them.
func serveClients(flags kubeletFlags, hollow *kubemark.HollowKubelet, client *kubernetes.Clientset) {
	// kubemark's own makes no directories.
	hollow.KubeletDeps.OSInterface = container.RealOS{}
	file := func(kind string) string { return filepath.Join(flags.tlsDir, flags.name+"-serving."+kind) }
	hollow.KubeletDeps.TLSOptions = &server.TLSOptions{
		CertFile: file("crt"), KeyFile: file("key"), ClientCAFile: flags.clientCA,
	}
	auth, reload, err := kubeletapp.BuildAuth(apitypes.NodeName(flags.name), client, *hollow.KubeletConfiguration)
	must("asking who may ask", err)
	go reload(nil)
	hollow.KubeletDeps.Auth = auth
	klog.InfoS("Containers of this node really run", "runtime", flags.runtimeEndpoint)
}
