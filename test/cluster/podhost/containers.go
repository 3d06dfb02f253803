// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func notFound(words string) error {
	return status.Error(codes.NotFound, words)
}

// container is one start of a program; the kubelet makes another one to restart it.
type container struct {
	id      string
	sandbox *sandbox
	config  *cri.ContainerConfig
	image   Image
	scratch string
	log     *log
	created time.Time

	mutex             sync.Mutex
	pid               int
	started, finished time.Time
	exitCode          int32
	// Closed when it has ended.
	done chan struct{}
}

func (c *container) state() cri.ContainerState {
	switch {
	case !c.finished.IsZero():
		return cri.ContainerState_CONTAINER_EXITED
	case !c.started.IsZero():
		return cri.ContainerState_CONTAINER_RUNNING
	}
	return cri.ContainerState_CONTAINER_CREATED
}

func (r *runtimeService) CreateContainer(_ context.Context, request *cri.CreateContainerRequest) (*cri.CreateContainerResponse, error) {
	images, err := readImages(r.images)
	if err != nil {
		return nil, err
	}
	config := request.GetConfig()
	name := config.GetImage().GetUserSpecifiedImage()
	if name == "" {
		name = config.GetImage().GetImage()
	}
	image, ok := images[name]
	if !ok {
		return nil, notFound(fmt.Sprintf("no image %q", name))
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	pod, ok := r.sandboxes[request.GetPodSandboxId()]
	if !ok || pod.ended {
		return nil, notFound(fmt.Sprintf("no sandbox %s", request.GetPodSandboxId()))
	}
	made := &container{
		id: newID(), sandbox: pod, config: config, image: image, created: time.Now(), done: make(chan struct{}),
	}
	made.scratch = filepath.Join(r.directory, made.id)
	if err := os.Mkdir(made.scratch, 0o700); err != nil {
		return nil, err
	}
	if made.log, err = openLog(pod.logPath(config)); err != nil {
		return nil, err
	}
	r.containers[made.id] = made
	return &cri.CreateContainerResponse{ContainerId: made.id}, nil
}

func (r *runtimeService) StartContainer(_ context.Context, request *cri.StartContainerRequest) (*cri.StartContainerResponse, error) {
	found, err := r.container(request.GetContainerId())
	if err != nil {
		return nil, err
	}
	return &cri.StartContainerResponse{}, found.start()
}

func (r *runtimeService) StopContainer(_ context.Context, request *cri.StopContainerRequest) (*cri.StopContainerResponse, error) {
	found, err := r.container(request.GetContainerId())
	if err != nil {
		// Gone already is as good as stopped.
		return &cri.StopContainerResponse{}, nil
	}
	found.stop(time.Duration(request.GetTimeout()) * time.Second)
	return &cri.StopContainerResponse{}, nil
}

// stop resolves when the container has ended: SIGTERM first, SIGKILL after the grace.
func (c *container) stop(grace time.Duration) {
	c.mutex.Lock()
	state := c.state()
	if state == cri.ContainerState_CONTAINER_CREATED {
		c.finished, c.exitCode = time.Now(), 0
		close(c.done)
	}
	c.mutex.Unlock()
	if state != cri.ContainerState_CONTAINER_RUNNING {
		return
	}
	if grace > 0 {
		c.signal(syscall.SIGTERM)
		select {
		case <-c.done:
			return
		case <-time.After(grace):
		}
	}
	c.signal(syscall.SIGKILL)
	<-c.done
}

// signal spares a process that has the number of one that ended.
func (c *container) signal(which syscall.Signal) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.state() == cri.ContainerState_CONTAINER_RUNNING {
		_ = syscall.Kill(c.pid, which)
	}
}

func (r *runtimeService) RemoveContainer(_ context.Context, request *cri.RemoveContainerRequest) (*cri.RemoveContainerResponse, error) {
	found, err := r.container(request.GetContainerId())
	if err != nil {
		return &cri.RemoveContainerResponse{}, nil
	}
	found.stop(0)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.forget(found)
	return &cri.RemoveContainerResponse{}, nil
}

func (r *runtimeService) ListContainers(_ context.Context, request *cri.ListContainersRequest) (*cri.ListContainersResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	filter := request.GetFilter()
	answer := &cri.ListContainersResponse{}
	for _, each := range r.containers {
		state := each.status().GetState()
		if filter.GetId() != "" && filter.GetId() != each.id ||
			filter.GetPodSandboxId() != "" && filter.GetPodSandboxId() != each.sandbox.id ||
			filter.GetState() != nil && filter.GetState().GetState() != state ||
			!selects(filter.GetLabelSelector(), each.config.GetLabels()) {
			continue
		}
		answer.Containers = append(answer.Containers, &cri.Container{
			Id: each.id, PodSandboxId: each.sandbox.id, Metadata: each.config.GetMetadata(), Image: each.config.GetImage(),
			ImageRef: each.config.GetImage().GetImage(), ImageId: each.config.GetImage().GetImage(), State: state,
			CreatedAt: each.created.UnixNano(), Labels: each.config.GetLabels(), Annotations: each.config.GetAnnotations(),
		})
	}
	return answer, nil
}

func (r *runtimeService) ContainerStatus(_ context.Context, request *cri.ContainerStatusRequest) (*cri.ContainerStatusResponse, error) {
	found, err := r.container(request.GetContainerId())
	if err != nil {
		return nil, err
	}
	return &cri.ContainerStatusResponse{Status: found.status()}, nil
}

func (c *container) status() *cri.ContainerStatus {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	answer := &cri.ContainerStatus{
		Id: c.id, Metadata: c.config.GetMetadata(), State: c.state(), CreatedAt: c.created.UnixNano(), ExitCode: c.exitCode,
		Image: c.config.GetImage(), ImageRef: c.config.GetImage().GetImage(), ImageId: c.config.GetImage().GetImage(),
		Labels: c.config.GetLabels(), Annotations: c.config.GetAnnotations(), Mounts: c.config.GetMounts(), LogPath: c.log.path,
	}
	if !c.started.IsZero() {
		answer.StartedAt = c.started.UnixNano()
	}
	if !c.finished.IsZero() {
		answer.FinishedAt = c.finished.UnixNano()
		answer.Reason = "Error"
		if c.exitCode == 0 {
			answer.Reason = "Completed"
		}
	}
	return answer
}

func (r *runtimeService) ReopenContainerLog(_ context.Context, request *cri.ReopenContainerLogRequest) (*cri.ReopenContainerLogResponse, error) {
	found, err := r.container(request.GetContainerId())
	if err != nil {
		return nil, err
	}
	return &cri.ReopenContainerLogResponse{}, found.log.reopen()
}
