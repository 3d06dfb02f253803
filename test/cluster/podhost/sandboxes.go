// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// sandbox is a pod: a network, and what its containers share.
type sandbox struct {
	id      string
	config  *cri.PodSandboxConfig
	created time.Time
	// Nil of a pod in the host's own network.
	network *os.File
	// One of each family, in the host's order.
	addresses []net.IP
	ended     bool
}

func (s *sandbox) inHostNetwork() bool {
	return s.config.GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork() == cri.NamespaceMode_NODE
}

func (s *sandbox) state() cri.PodSandboxState {
	if s.ended {
		return cri.PodSandboxState_SANDBOX_NOTREADY
	}
	return cri.PodSandboxState_SANDBOX_READY
}

func (r *runtimeService) RunPodSandbox(_ context.Context, request *cri.RunPodSandboxRequest) (*cri.RunPodSandboxResponse, error) {
	made := &sandbox{id: newID(), config: request.GetConfig(), created: time.Now()}
	if logs := made.config.GetLogDirectory(); logs != "" {
		if err := os.MkdirAll(logs, 0o755); err != nil {
			return nil, err
		}
	}
	if made.inHostNetwork() {
		addresses, err := parseAddresses(r.node.Addresses)
		if err != nil {
			return nil, err
		}
		made.addresses = addresses
	} else {
		network, err := newNetwork()
		if err != nil {
			return nil, err
		}
		made.network = network
		if made.addresses, err = r.host.plug(network); err != nil {
			network.Close()
			return nil, err
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.sandboxes[made.id] = made
	return &cri.RunPodSandboxResponse{PodSandboxId: made.id}, nil
}

// StopPodSandbox ends what still runs, and the network with it. It may be called again.
func (r *runtimeService) StopPodSandbox(_ context.Context, request *cri.StopPodSandboxRequest) (*cri.StopPodSandboxResponse, error) {
	r.mutex.Lock()
	found, ok := r.sandboxes[request.GetPodSandboxId()]
	if !ok || found.ended {
		r.mutex.Unlock()
		return &cri.StopPodSandboxResponse{}, nil
	}
	found.ended = true
	running := r.containersOf(found.id)
	r.mutex.Unlock()
	for _, each := range running {
		each.stop(0)
	}
	if found.network != nil {
		found.network.Close()
		r.host.release(found.addresses)
	}
	return &cri.StopPodSandboxResponse{}, nil
}

func (r *runtimeService) RemovePodSandbox(ctx context.Context, request *cri.RemovePodSandboxRequest) (*cri.RemovePodSandboxResponse, error) {
	if _, err := r.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: request.GetPodSandboxId()}); err != nil {
		return nil, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, each := range r.containersOf(request.GetPodSandboxId()) {
		r.forget(each)
	}
	delete(r.sandboxes, request.GetPodSandboxId())
	return &cri.RemovePodSandboxResponse{}, nil
}

func (r *runtimeService) PodSandboxStatus(_ context.Context, request *cri.PodSandboxStatusRequest) (*cri.PodSandboxStatusResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found, ok := r.sandboxes[request.GetPodSandboxId()]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "no sandbox %s", request.GetPodSandboxId())
	}
	answer := &cri.PodSandboxStatus{
		Id: found.id, Metadata: found.config.GetMetadata(), State: found.state(),
		CreatedAt: found.created.UnixNano(), Network: networkStatus(found.addresses),
		Labels: found.config.GetLabels(), Annotations: found.config.GetAnnotations(),
		Linux: &cri.LinuxPodSandboxStatus{Namespaces: &cri.Namespace{
			Options: found.config.GetLinux().GetSecurityContext().GetNamespaceOptions(),
		}},
	}
	return &cri.PodSandboxStatusResponse{Status: answer}, nil
}

func networkStatus(addresses []net.IP) *cri.PodSandboxNetworkStatus {
	answer := &cri.PodSandboxNetworkStatus{Ip: addresses[0].String()}
	for _, address := range addresses[1:] {
		answer.AdditionalIps = append(answer.AdditionalIps, &cri.PodIP{Ip: address.String()})
	}
	return answer
}

func (r *runtimeService) ListPodSandbox(_ context.Context, request *cri.ListPodSandboxRequest) (*cri.ListPodSandboxResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	filter := request.GetFilter()
	answer := &cri.ListPodSandboxResponse{}
	for _, each := range r.sandboxes {
		if filter.GetId() != "" && filter.GetId() != each.id || filter.GetState() != nil && filter.GetState().GetState() != each.state() ||
			!selects(filter.GetLabelSelector(), each.config.GetLabels()) {
			continue
		}
		answer.Items = append(answer.Items, &cri.PodSandbox{
			Id: each.id, Metadata: each.config.GetMetadata(), State: each.state(), CreatedAt: each.created.UnixNano(),
			Labels: each.config.GetLabels(), Annotations: each.config.GetAnnotations(),
		})
	}
	return answer, nil
}

func selects(wanted, labels map[string]string) bool {
	for name, value := range wanted {
		if labels[name] != value {
			return false
		}
	}
	return true
}

// logPath of a container; empty where its pod has no logs.
func (s *sandbox) logPath(config *cri.ContainerConfig) string {
	if s.config.GetLogDirectory() == "" || config.GetLogPath() == "" {
		return ""
	}
	return filepath.Join(s.config.GetLogDirectory(), config.GetLogPath())
}
