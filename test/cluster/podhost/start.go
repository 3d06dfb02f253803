// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// capabilities are those that runtimes leave to a container that says nothing of them.
var capabilities = map[string]uintptr{
	"CHOWN": unix.CAP_CHOWN, "DAC_OVERRIDE": unix.CAP_DAC_OVERRIDE, "FSETID": unix.CAP_FSETID, "FOWNER": unix.CAP_FOWNER,
	"MKNOD": unix.CAP_MKNOD, "NET_RAW": unix.CAP_NET_RAW, "SETGID": unix.CAP_SETGID, "SETUID": unix.CAP_SETUID,
	"SETFCAP": unix.CAP_SETFCAP, "SETPCAP": unix.CAP_SETPCAP, "NET_BIND_SERVICE": unix.CAP_NET_BIND_SERVICE,
	"SYS_CHROOT": unix.CAP_SYS_CHROOT, "KILL": unix.CAP_KILL, "AUDIT_WRITE": unix.CAP_AUDIT_WRITE,
}

const defaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// start returns when the container's program runs, or why it does not.
func (c *container) start() error {
	if c.sandbox.ended {
		return notFound("the pod has ended")
	}
	network := c.sandbox.network
	if network == nil {
		file, err := os.Open("/proc/self/ns/net")
		if err != nil {
			return err
		}
		defer file.Close()
		network = file
	}
	command := exec.Command("/proc/self/exe", "container")
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Setsid:     true,
	}
	spec, err := jsonPipe(c.process())
	if err != nil {
		return err
	}
	defer spec.Close()
	failure, told, err := os.Pipe()
	if err != nil {
		return err
	}
	defer failure.Close()
	// In the order of their descriptors' constants.
	command.ExtraFiles = []*os.File{spec, network, told}
	logged, err := c.attachLog(command)
	if err != nil {
		told.Close()
		return err
	}
	err = c.launch(command, logged)
	told.Close()
	if err != nil {
		return err
	}
	if text, _ := io.ReadAll(failure); len(text) > 0 {
		<-c.done
		return errors.New(string(text))
	}
	return nil
}

// launch starts the first process, and a goroutine that waits for its end.
func (c *container) launch(command *exec.Cmd, logged *sync.WaitGroup) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.state() != cri.ContainerState_CONTAINER_CREATED {
		return fmt.Errorf("container %s was started or stopped before", c.id)
	}
	err := command.Start()
	for _, file := range []any{command.Stdout, command.Stderr} {
		file.(*os.File).Close()
	}
	if err != nil {
		return err
	}
	c.pid, c.started = command.Process.Pid, time.Now()
	go func() {
		_ = command.Wait()
		// With the first process of their namespace all others have ended, and no writer is left.
		logged.Wait()
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.finished, c.exitCode = time.Now(), exitCode(command.ProcessState.Sys().(syscall.WaitStatus))
		c.log.close()
		close(c.done)
	}()
	return nil
}

// exitCode is a shell's: 128 and the signal's number for one that was killed.
func exitCode(status syscall.WaitStatus) int32 {
	if status.Signaled() {
		return 128 + int32(status.Signal())
	}
	return int32(status.ExitStatus())
}

func (c *container) attachLog(command *exec.Cmd) (*sync.WaitGroup, error) {
	logged := &sync.WaitGroup{}
	for _, stream := range []string{"stdout", "stderr"} {
		reader, writer, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if stream == "stdout" {
			command.Stdout = writer
		} else {
			command.Stderr = writer
		}
		logged.Go(func() {
			defer reader.Close()
			c.log.copy(stream, reader)
		})
	}
	return logged, nil
}

func jsonPipe(value any) (*os.File, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		defer writer.Close()
		_ = json.NewEncoder(writer).Encode(value)
	}()
	return reader, nil
}

// process says what the kubelet asked for in the words of the container's first process.
func (c *container) process() process {
	security := c.config.GetLinux().GetSecurityContext()
	made := process{
		Root: c.image.Root, Scratch: c.scratch, Directory: c.config.GetWorkingDir(),
		Hostname: c.sandbox.config.GetHostname(), Args: c.args(), Env: c.env(),
		UID: int(c.image.UID), GID: int(c.image.UID),
		ReadOnlyRoot: security.GetReadonlyRootfs(), NoNewPrivs: security.GetNoNewPrivs(), Privileged: security.GetPrivileged(),
		Capabilities: keptCapabilities(security.GetCapabilities()),
		Files:        map[string]string{"/etc/resolv.conf": resolvConf(c.sandbox.config.GetDnsConfig())},
	}
	if made.Directory == "" {
		made.Directory = "/"
	}
	if made.Hostname == "" {
		made.Hostname = "host"
	}
	if user := security.GetRunAsUser(); user != nil {
		made.UID, made.GID = int(user.GetValue()), 0
	}
	if group := security.GetRunAsGroup(); group != nil {
		made.GID = int(group.GetValue())
	}
	for _, group := range security.GetSupplementalGroups() {
		made.Groups = append(made.Groups, int(group))
	}
	for _, each := range c.config.GetMounts() {
		made.Mounts = append(made.Mounts, mount{Source: each.GetHostPath(), Target: each.GetContainerPath(), ReadOnly: each.GetReadonly()})
	}
	return made
}

func (c *container) args() []string {
	entrypoint, arguments := c.image.Entrypoint, c.image.Cmd
	if len(c.config.GetCommand()) > 0 {
		entrypoint, arguments = c.config.GetCommand(), nil
	}
	if len(c.config.GetArgs()) > 0 {
		arguments = c.config.GetArgs()
	}
	return append(append([]string{}, entrypoint...), arguments...)
}

func (c *container) env() []string {
	env := append([]string{defaultPath}, c.image.Env...)
	for _, each := range c.config.GetEnvs() {
		env = append(env, each.GetKey()+"="+string(each.GetValue()))
	}
	return lastOfEach(env)
}

// lastOfEach drops what is said again later on.
func lastOfEach(env []string) []string {
	place := map[string]int{}
	var kept []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if index, ok := place[name]; ok {
			kept[index] = entry
			continue
		}
		place[name] = len(kept)
		kept = append(kept, entry)
	}
	return kept
}

func keptCapabilities(wanted *cri.Capability) []uintptr {
	kept := map[string]uintptr{}
	for name, number := range capabilities {
		kept[name] = number
	}
	for _, name := range wanted.GetDropCapabilities() {
		if name == "ALL" {
			kept = map[string]uintptr{}
		}
		delete(kept, strings.TrimPrefix(name, "CAP_"))
	}
	for _, name := range wanted.GetAddCapabilities() {
		if number, ok := capabilities[strings.TrimPrefix(name, "CAP_")]; ok {
			kept[name] = number
		}
	}
	var numbers []uintptr
	for _, number := range kept {
		numbers = append(numbers, number)
	}
	return numbers
}

func resolvConf(config *cri.DNSConfig) string {
	var text strings.Builder
	for _, server := range config.GetServers() {
		fmt.Fprintf(&text, "nameserver %s\n", server)
	}
	if len(config.GetSearches()) > 0 {
		fmt.Fprintf(&text, "search %s\n", strings.Join(config.GetSearches(), " "))
	}
	if len(config.GetOptions()) > 0 {
		fmt.Fprintf(&text, "options %s\n", strings.Join(config.GetOptions(), " "))
	}
	return text.String()
}
