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
		resident, peak := memoryOf(each.pid)
		answer.Stats = append(answer.Stats, &cri.ContainerStats{
			Attributes: &cri.ContainerAttributes{Id: each.id, Metadata: each.config.GetMetadata(), Labels: each.config.GetLabels()},
			Memory: &cri.MemoryUsage{
				RssBytes: &cri.UInt64Value{Value: resident},
				// No field is meant for it; usage of a cgroup is the nearest.
				UsageBytes: &cri.UInt64Value{Value: peak},
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

// memoryOf a container's first process: what it has, and the most that it has had, in bytes.
func memoryOf(pid int) (resident, peak uint64) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
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
		case "VmHWM:":
			peak = kilobytes * 1024
		}
	}
	return resident, peak
}

// usage is a line of what runStats prints.
type usage struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
	Resident  uint64 `json:"residentBytes"`
	Peak      uint64 `json:"peakBytes"`
}

// runStats prints, as JSON, what the containers of the nodes whose sockets are named take of memory.
func runStats(sockets []string) {
	all := []usage{}
	for _, socket := range sockets {
		connection := got[*grpc.ClientConn]("dialling")(
			grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials())))
		answer := got[*cri.ListContainerStatsResponse]("asking the CRI")(
			cri.NewRuntimeServiceClient(connection).ListContainerStats(context.Background(), &cri.ListContainerStatsRequest{}))
		for _, each := range answer.GetStats() {
			labels := each.GetAttributes().GetLabels()
			all = append(all, usage{
				labels["io.kubernetes.pod.namespace"], labels["io.kubernetes.pod.name"], each.GetAttributes().GetMetadata().GetName(),
				each.GetMemory().GetRssBytes().GetValue(), each.GetMemory().GetUsageBytes().GetValue(),
			})
		}
		connection.Close()
	}
	must("printing", json.NewEncoder(os.Stdout).Encode(all))
}
