// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// runServe opens the listeners on the caller's loopback and starts the first process of the host,
// which takes them along: a socket stays in the network namespace that it was opened in. When this
// process ends, however it does, the kernel ends that one, and with it all pods.
func runServe(args []string) {
	config := readConfig(args[0])
	command := insideNamespaces("inside", args[0])
	for _, port := range config.Ports {
		listener := got[net.Listener]("listening")(net.Listen("tcp", loopback(port)))
		file := got[*os.File]("listening")(listener.(*net.TCPListener).File())
		command.ExtraFiles = append(command.ExtraFiles, file)
	}
	must("starting the host", command.Start())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		_ = command.Process.Kill()
	}()
	path := fmt.Sprintf("/proc/%d/ns/net", command.Process.Pid)
	must("writing the namespace's path", writeWhole(config.NamespaceFile, path))
	must("running the host", command.Wait())
}

// insideNamespaces is this program again, as the first process of namespaces of its own.
func insideNamespaces(args ...string) *exec.Cmd {
	command := exec.Command("/proc/self/exe", args...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC,
		// Of the thread that starts it: main's, which never ends.
		Pdeathsig: syscall.SIGKILL,
	}
	return command
}

// runInside is the first process of the host.
func runInside(args []string) {
	config := readConfig(args[0])
	must("mounting", prepareMounts())
	families := got[[]family]("reading the configuration")(familiesNamed(config.Families))
	host := got[*bridge]("making the network")(newBridge(families, config.Nodes))
	for index, port := range config.Ports {
		// 0, 1 and 2 are the standard streams.
		file := os.NewFile(uintptr(3+index), "listener")
		listener := got[net.Listener]("taking a listener")(net.FileListener(file))
		go forward(listener, func() (net.Conn, error) { return net.Dial("tcp", loopback(port)) })
	}
	for _, node := range config.Nodes {
		must("serving the CRI", serveRuntime(config, node, host))
	}
	must("serving names and Services", serveServices(config.Kubeconfig, families, config.Front))
	health := http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) { answer.WriteHeader(http.StatusOK) })
	must("serving health", http.ListenAndServe(loopback(config.HealthPort), health))
}

// prepareMounts makes /proc that of the host's processes. What is mounted outside later is seen here;
// what is mounted here is seen by kubelets and not outside, and goes with the last process.
func prepareMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		return err
	}
	return mountProc("/proc")
}

func mountProc(target string) error {
	return unix.Mount("proc", target, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// writeWhole lets a reader see the whole text or none.
func writeWhole(file, text string) error {
	part := filepath.Join(filepath.Dir(file), "."+filepath.Base(file))
	if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(part, file)
}
