// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// runCheck ends with 0 where pods can really run with addresses of these families, and says why where
// they cannot.
func runCheck(families []string) {
	command := insideNamespaces(append([]string{"check-inside"}, families...)...)
	must("making namespaces of network, processes and mounts", command.Run())
}

func runCheckInside(families []string) {
	must("starting a pod", checkInside(families))
}

// checkInside does once what a pod's start does.
func checkInside(names []string) error {
	families, err := familiesNamed(names)
	if err != nil {
		return err
	}
	if err := prepareMounts(); err != nil {
		return err
	}
	host, err := newBridge(families, nil)
	if err != nil {
		return err
	}
	network, err := newNetwork()
	if err != nil {
		return fmt.Errorf("making a network: %w", err)
	}
	if _, err := host.plug(network); err != nil {
		return err
	}
	if _, err := exec.LookPath("nsenter"); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "countersign-podhost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := unix.Mount("tmpfs", scratch, "tmpfs", 0, ""); err != nil {
		return err
	}
	defer unix.Unmount(scratch, unix.MNT_DETACH)
	lower := filepath.Join(scratch, "lower")
	if err := os.Mkdir(lower, 0o755); err != nil {
		return err
	}
	_, err = mountOverlay(scratch, lower)
	return err
}
