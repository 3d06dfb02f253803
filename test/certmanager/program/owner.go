// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endWithOwner ends this process soon after the one that started the cluster, however that one
// went: a test run that is killed cannot stop what it started.
func endWithOwner() {
	owner, err := strconv.Atoi(os.Getenv("CONTROLPLANE_OWNER_PID"))
	if err != nil {
		return
	}
	go func() {
		for range time.Tick(time.Second) {
			if hasEnded(owner) {
				os.Exit(1)
			}
		}
	}()
}

// hasEnded is also true of a process that nobody has reaped, as in a container without an init.
func hasEnded(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), '('):]), ") ")
	return strings.HasPrefix(state, "Z")
}
