// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
)

// runtimeService is the CRI of one node. Its pods outlive the kubelet, and end with the host.
type runtimeService struct {
	cri.UnimplementedRuntimeServiceServer
	node   Node
	images string
	// directory holds an empty directory for each container that runs.
	directory string
	host      *bridge
	streams   streaming.Server

	mutex      sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
}

func serveRuntime(config Config, node Node, host *bridge) error {
	service := &runtimeService{
		node: node, images: config.Images, directory: filepath.Join(config.Directory, node.Name), host: host,
		sandboxes: map[string]*sandbox{}, containers: map[string]*container{},
	}
	if err := os.MkdirAll(service.directory, 0o700); err != nil {
		return err
	}
	if err := service.serveStreams(); err != nil {
		return err
	}
	listener, err := net.Listen("unix", node.Socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	cri.RegisterRuntimeServiceServer(server, service)
	cri.RegisterImageServiceServer(server, &imageService{file: config.Images})
	go func() { must("serving the CRI", server.Serve(listener)) }()
	return nil
}

func newID() string {
	text := make([]byte, 32)
	_, err := rand.Read(text)
	must("drawing an id", err)
	return hex.EncodeToString(text)
}

func (r *runtimeService) Version(context.Context, *cri.VersionRequest) (*cri.VersionResponse, error) {
	return &cri.VersionResponse{Version: "0.1.0", RuntimeName: "podhost", RuntimeVersion: "0.1.0", RuntimeApiVersion: "v1"}, nil
}

func (r *runtimeService) Status(context.Context, *cri.StatusRequest) (*cri.StatusResponse, error) {
	ready := func(name string) *cri.RuntimeCondition { return &cri.RuntimeCondition{Type: name, Status: true} }
	conditions := []*cri.RuntimeCondition{ready(cri.RuntimeReady), ready(cri.NetworkReady)}
	return &cri.StatusResponse{Status: &cri.RuntimeStatus{Conditions: conditions}}, nil
}

func (r *runtimeService) UpdateRuntimeConfig(context.Context, *cri.UpdateRuntimeConfigRequest) (*cri.UpdateRuntimeConfigResponse, error) {
	return &cri.UpdateRuntimeConfigResponse{}, nil
}

func (r *runtimeService) RuntimeConfig(context.Context, *cri.RuntimeConfigRequest) (*cri.RuntimeConfigResponse, error) {
	return &cri.RuntimeConfigResponse{Linux: &cri.LinuxRuntimeConfiguration{CgroupDriver: cri.CgroupDriver_CGROUPFS}}, nil
}

// UpdateContainerResources has nothing to do: there are no cgroups.
func (r *runtimeService) UpdateContainerResources(context.Context, *cri.UpdateContainerResourcesRequest) (*cri.UpdateContainerResourcesResponse, error) {
	return &cri.UpdateContainerResourcesResponse{}, nil
}

// containersOf is called with the lock held.
func (r *runtimeService) containersOf(sandboxID string) []*container {
	var found []*container
	for _, each := range r.containers {
		if each.sandbox.id == sandboxID {
			found = append(found, each)
		}
	}
	return found
}

// forget is called with the lock held.
func (r *runtimeService) forget(gone *container) {
	delete(r.containers, gone.id)
	_ = os.Remove(gone.scratch)
}

func (r *runtimeService) container(id string) (*container, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found, ok := r.containers[id]
	if !ok {
		return nil, notFound(fmt.Sprintf("no container %s", id))
	}
	return found, nil
}
