// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strconv"
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
			if syscall.Kill(owner, 0) == syscall.ESRCH {
				os.Exit(1)
			}
		}
	}()
}
