// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// runEnter becomes the program of its second and later arguments within the host's network, whose
// path the file of the first argument says, or will say in a moment.
func runEnter(args []string) {
	must("entering the network", enterNetwork(namespaceOf(args[0])))
	become(args[1:])
}

// runEnterMounts is runEnter for a kubelet: pods see what it mounts.
func runEnterMounts(args []string) {
	network := namespaceOf(args[0])
	must("entering the network", enterNetwork(network))
	must("sharing mounts", shareMounts(filepath.Join(filepath.Dir(network), "mnt")))
	become(args[1:])
}

// namespaceOf waits for the file with the path of the host's network.
func namespaceOf(file string) string {
	for range time.Tick(10 * time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil {
			return string(text)
		}
	}
	panic("unreachable: a ticker never ends")
}

func become(command []string) {
	program := got[string]("finding the program")(exec.LookPath(command[0]))
	must("running the program", syscall.Exec(program, command, os.Environ()))
}

// shareMounts gives the calling thread mounts that it shares with the host: each sees what the other
// one mounts. /proc stays that of the processes outside, of which this is one.
func shareMounts(path string) error {
	directory, err := os.Getwd()
	if err != nil {
		return err
	}
	host, err := os.Open(path)
	if err != nil {
		return err
	}
	defer host.Close()
	// setns(2): only a thread with a root and a working directory of its own may change its mounts.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	if err := unix.Setns(int(host.Fd()), unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/proc", "", unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := mountProc("/proc"); err != nil {
		return err
	}
	return os.Chdir(directory)
}

// enterNetwork changes the calling thread's network.
func enterNetwork(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
}

// inNetwork runs what opens a socket in another network. The thread is thrown away after it.
func inNetwork(file *os.File, run func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
			result <- err
			return
		}
		result <- run()
	}()
	return <-result
}

// newNetwork is a network of nobody's yet; it lasts as long as the file is open or a process is in it.
func newNetwork() (*os.File, error) {
	var made *os.File
	result := make(chan error)
	go func() {
		// Never unlocked: the thread ends with the goroutine and nobody finds himself in the wrong network.
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			made, err = os.Open("/proc/thread-self/ns/net")
		}
		result <- err
	}()
	return made, <-result
}
