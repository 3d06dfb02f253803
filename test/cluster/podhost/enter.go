// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// runEnter becomes the program of its second and later arguments within the host's network, whose
// path the file of the first argument says, or will say in a moment.
func runEnter(args []string) {
	path := ""
	for range time.Tick(10 * time.Millisecond) {
		if text, err := os.ReadFile(args[0]); err == nil {
			path = string(text)
			break
		}
	}
	must("entering the network", enterNetwork(path))
	program := got[string]("finding the program")(exec.LookPath(args[1]))
	must("running the program", syscall.Exec(program, args[1:], os.Environ()))
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
