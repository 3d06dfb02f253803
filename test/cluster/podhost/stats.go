// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func (r *runtimeService) ListContainerStats(context.Context, *cri.ListContainerStatsRequest) (*cri.ListContainerStatsResponse, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	answer := &cri.ListContainerStatsResponse{}
	for _, each := range r.containers {
		if each.status().GetState() != cri.ContainerState_CONTAINER_RUNNING {
			continue
		}
		resident, anonymous, peak := memoryOf(each.pid)
		answer.Stats = append(answer.Stats, &cri.ContainerStats{
			Attributes: &cri.ContainerAttributes{Id: each.id, Metadata: each.config.GetMetadata(), Labels: each.config.GetLabels()},
			Memory: &cri.MemoryUsage{
				RssBytes: &cri.UInt64Value{Value: resident},
				// There is no cgroup to ask: what is nobody else's, and the most that there was, stand in.
				WorkingSetBytes: &cri.UInt64Value{Value: anonymous},
				UsageBytes:      &cri.UInt64Value{Value: peak},
			},
		})
	}
	return answer, nil
}

func (r *runtimeService) ContainerStats(ctx context.Context, request *cri.ContainerStatsRequest) (*cri.ContainerStatsResponse, error) {
	all, err := r.ListContainerStats(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, each := range all.GetStats() {
		if each.GetAttributes().GetId() == request.GetContainerId() {
			return &cri.ContainerStatsResponse{Stats: each}, nil
		}
	}
	return nil, notFound("no such container runs")
}

func (r *runtimeService) ListPodSandboxStats(context.Context, *cri.ListPodSandboxStatsRequest) (*cri.ListPodSandboxStatsResponse, error) {
	return &cri.ListPodSandboxStatsResponse{}, nil
}

// memoryOf a container's first process, in bytes: what it has, what of that is of no file, and the most
// that it has had.
func memoryOf(pid int) (resident, anonymous, peak uint64) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// proc_pid_status(5): `VmRSS:     1234 kB`.
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kilobytes, _ := strconv.ParseUint(fields[1], 10, 64)
		switch fields[0] {
		case "VmRSS:":
			resident = kilobytes * 1024
		case "RssAnon:":
			anonymous = kilobytes * 1024
		case "VmHWM:":
			peak = kilobytes * 1024
		}
	}
	return resident, anonymous, peak
}

// usage is a line of what runStats prints.
type usage struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	Resident  uint64 `json:"residentBytes"`
	Anonymous uint64 `json:"anonymousBytes"`
	Peak      uint64 `json:"peakBytes"`
}

// runStats prints, as JSON, what the containers of the nodes whose sockets are named take of memory.
func runStats(sockets []string) {
	all := []usage{}
	for _, socket := range sockets {
		answer := got[*cri.ListContainerStatsResponse]("asking the CRI")(
			dial(socket).ListContainerStats(context.Background(), &cri.ListContainerStatsRequest{}))
		for _, each := range answer.GetStats() {
			labels := each.GetAttributes().GetLabels()
			all = append(all, usage{
				labels["io.kubernetes.pod.namespace"], labels["io.kubernetes.pod.name"], each.GetAttributes().GetMetadata().GetName(),
				each.GetMemory().GetRssBytes().GetValue(), each.GetMemory().GetWorkingSetBytes().GetValue(),
				each.GetMemory().GetUsageBytes().GetValue(),
			})
		}
	}
	must("printing", json.NewEncoder(os.Stdout).Encode(all))
}

// runKill ends the containers of a pod by SIGKILL, as a crash would; its kubelet starts them again.
func runKill(args []string) {
	wanted := map[string]string{"io.kubernetes.pod.namespace": args[0], "io.kubernetes.pod.name": args[1]}
	running := &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_RUNNING}
	killed := 0
	for _, socket := range args[2:] {
		runtime := dial(socket)
		answer := got[*cri.ListContainersResponse]("asking the CRI")(runtime.ListContainers(context.Background(),
			&cri.ListContainersRequest{Filter: &cri.ContainerFilter{State: running, LabelSelector: wanted}}))
		for _, each := range answer.GetContainers() {
			_, err := runtime.StopContainer(context.Background(), &cri.StopContainerRequest{ContainerId: each.GetId()})
			must("killing", err)
			killed++
		}
	}
	if killed == 0 {
		must("killing", fmt.Errorf("no container of %s/%s runs", args[0], args[1]))
	}
}

func dial(socket string) cri.RuntimeServiceClient {
	connection := got[*grpc.ClientConn]("dialling")(
		grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials())))
	return cri.NewRuntimeServiceClient(connection)
}
