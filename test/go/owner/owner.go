// SPDX-License-Identifier: Apache-2.0

// Package owner is of every program that tests start.
package owner

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// End ends this process soon after the one that CONTROLPLANE_OWNER_PID names, however that one went: a
// test run that is killed cannot stop what it started.
func End() {
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
