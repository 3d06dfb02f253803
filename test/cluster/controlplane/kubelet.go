// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cri "k8s.io/cri-api/pkg/apis"
	fakeremote "k8s.io/cri-client/pkg/fake"
	"k8s.io/klog/v2"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

type kubeletFlags struct {
	name, kubeconfig, rootDir string
	port, maxPods             int
	syncFrequency             time.Duration
	// Of a node whose pods really run.
	runtimeEndpoint, nodeIP, clusterDNS, tlsDir, clientCA string
}

// runKubelet is the real kubelet with a faked cadvisor and, unless there is a --runtime-endpoint, a
// faked container runtime: volumes are real, containers are not. Everything it writes lies in
// --root-dir.
func runKubelet() {
	flags := parseKubeletFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	must("making the root directory", os.MkdirAll(flags.rootDir, 0o755))
	config := got[*rest.Config]("reading the kubeconfig")(clientcmd.BuildConfigFromFlags("", flags.kubeconfig))
	// A node with hundreds of pods must not wait for its own client.
	config.QPS, config.Burst = 1000, 2000
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client := kubernetes.NewForConfigOrDie(config)
	heartbeat := rest.CopyConfig(config)
	heartbeat.QPS, heartbeat.Timeout = -1, 10*time.Second

	hollow := composeKubelet(ctx, flags, client, kubernetes.NewForConfigOrDie(heartbeat))
	must("starting", kubeletapp.RunKubelet(ctx, &options.KubeletServer{
		KubeletFlags:         *hollow.KubeletFlags,
		KubeletConfiguration: *hollow.KubeletConfiguration,
	}, hollow.KubeletDeps))
	<-ctx.Done()
}

func parseKubeletFlags() kubeletFlags {
	var flags kubeletFlags
	set := pflag.NewFlagSet("kubelet", pflag.ExitOnError)
	set.StringVar(&flags.name, "name", "", "name of the node")
	set.StringVar(&flags.kubeconfig, "kubeconfig", "", "kubeconfig with the node's identity")
	set.StringVar(&flags.rootDir, "root-dir", "", "the only directory that is written to")
	set.IntVar(&flags.port, "port", 0, "port on 127.0.0.1")
	set.IntVar(&flags.maxPods, "max-pods", 500, "pods that the node takes")
	set.DurationVar(&flags.syncFrequency, "sync-frequency", 2*time.Second, "longest time between two looks at a pod")
	set.StringVar(&flags.runtimeEndpoint, "runtime-endpoint", "", "where a CRI is served that runs containers")
	set.StringVar(&flags.nodeIP, "node-ip", "", "the node's address, or one of each family; with --runtime-endpoint")
	set.StringVar(&flags.clusterDNS, "cluster-dns", "", "who answers pods' questions for names; with --runtime-endpoint")
	set.StringVar(&flags.tlsDir, "tls-dir", "", "where <name>-serving.crt and .key are; with --runtime-endpoint")
	set.StringVar(&flags.clientCA, "client-ca-file", "", "whose clients may ask this kubelet; with --runtime-endpoint")
	utilfeature.DefaultMutableFeatureGate.AddFlag(set)
	must("reading flags", set.Parse(os.Args[1:]))
	return flags
}

func composeKubelet(ctx context.Context, flags kubeletFlags, client, heartbeat *kubernetes.Clientset) *kubemark.HollowKubelet {
	kubeletFlags, config := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName: flags.name, KubeletPort: flags.port, MaxPods: flags.maxPods,
	})
	// kubemark makes a temporary directory of its own.
	must("removing kubemark's directory", os.RemoveAll(kubeletFlags.RootDirectory))
	kubeletFlags.RootDirectory = flags.rootDir
	kubeletFlags.CertDirectory = filepath.Join(flags.rootDir, "pki")
	// Refused with an error in the log and no address in the Node; but without it the kubelet would
	// ask DNS for the node's name at each status update.
	kubeletFlags.NodeIP = "127.0.0.1"
	config.Address = "127.0.0.1"
	config.StaticPodPath = ""
	config.PodLogsDir = filepath.Join(flags.rootDir, "pod-logs")
	config.VolumePluginDir = filepath.Join(flags.rootDir, "volume-plugins")
	config.SyncFrequency.Duration = flags.syncFrequency

	var images cri.ImageManagerService
	if flags.runtimeEndpoint == "" {
		images = startFakeRuntime(flags, config)
	} else {
		useRealRuntime(flags, kubeletFlags, config)
		images = got[cri.ImageManagerService]("dialling the runtime")(dialImages(ctx, flags.runtimeEndpoint))
	}
	service := got[cri.RuntimeService]("dialling the runtime")(dialRuntime(ctx, config.ContainerRuntimeEndpoint))

	hollow := kubemark.NewHollowKubelet(kubeletFlags, config, client, heartbeat,
		&cadvisortest.Fake{NodeName: flags.name}, images, service, cm.NewStubContainerManager())
	// kubemark's prober calls every container ready, running or not; without it the kubelet's own one
	// calls those without probes ready that run.
	hollow.KubeletDeps.ProbeManager = nil
	sendEvents(hollow, client)
	if flags.runtimeEndpoint != "" {
		hollow.KubeletDeps.Mounter = newPodMounter()
		serveClients(flags, hollow, client)
	}
	return hollow
}

func startFakeRuntime(flags kubeletFlags, config *kubeletconfig.KubeletConfiguration) cri.ImageManagerService {
	socket := filepath.Join(flags.rootDir, "runtime.sock")
	must("removing the last run's socket", os.RemoveAll(socket))
	config.ContainerRuntimeEndpoint = "unix://" + socket
	config.ImageServiceEndpoint = config.ContainerRuntimeEndpoint
	runtime := fakeremote.NewFakeRemoteRuntime()
	must("starting the fake runtime", runtime.Start(config.ContainerRuntimeEndpoint))
	return runtime.ImageService
}

// sendEvents swaps kubemark's fake recorder for the kubelet's own. That one also reads the kernel's
// log, so where this is not allowed the fake one stays.
func sendEvents(hollow *kubemark.HollowKubelet, client *kubernetes.Clientset) {
	log, err := os.Open("/dev/kmsg")
	if err != nil {
		klog.ErrorS(err, "This kubelet writes no Events")
		return
	}
	log.Close()
	hollow.KubeletDeps.Recorder = nil
	hollow.KubeletDeps.EventClient = client.CoreV1()
}
