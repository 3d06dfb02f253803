// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// serveStreams serves what the kubelet hands a client's stream on to.
func (r *runtimeService) serveStreams() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	config := streaming.DefaultConfig
	config.Addr = listener.Addr().String()
	// It listens itself.
	listener.Close()
	if r.streams, err = streaming.NewServer(config, &streams{r}); err != nil {
		return err
	}
	go func() { must("serving streams", r.streams.Start(true)) }()
	return nil
}

func (r *runtimeService) Exec(_ context.Context, request *cri.ExecRequest) (*cri.ExecResponse, error) {
	if _, err := r.running(request.GetContainerId()); err != nil {
		return nil, err
	}
	return r.streams.GetExec(request)
}

func (r *runtimeService) PortForward(_ context.Context, request *cri.PortForwardRequest) (*cri.PortForwardResponse, error) {
	return r.streams.GetPortForward(request)
}

// ExecSync is what probes and hooks use.
func (r *runtimeService) ExecSync(ctx context.Context, request *cri.ExecSyncRequest) (*cri.ExecSyncResponse, error) {
	found, err := r.running(request.GetContainerId())
	if err != nil {
		return nil, err
	}
	if seconds := request.GetTimeout(); seconds > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
		ctx = limited
	}
	var stdout, stderr bytes.Buffer
	command := found.command(ctx, request.GetCmd())
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	if ctx.Err() != nil {
		return nil, status.Error(codes.DeadlineExceeded, "the command did not end in time")
	}
	answer := &cri.ExecSyncResponse{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		answer.ExitCode = int32(exit.ExitCode())
		return answer, nil
	}
	return answer, err
}

func (r *runtimeService) running(id string) (*container, error) {
	found, err := r.container(id)
	if err != nil {
		return nil, err
	}
	if found.status().GetState() != cri.ContainerState_CONTAINER_RUNNING {
		return nil, status.Errorf(codes.FailedPrecondition, "container %s does not run", id)
	}
	return found, nil
}

// command runs beside the container's own processes, as its user.
func (c *container) command(ctx context.Context, args []string) *exec.Cmd {
	spec := c.process()
	entered := []string{
		"--target", strconv.Itoa(c.pid), "--mount", "--net", "--pid", "--ipc", "--uts", "--root", "--wdns=" + spec.Directory,
		"--setgid", strconv.Itoa(spec.GID), "--setuid", strconv.Itoa(spec.UID), "--",
	}
	command := exec.CommandContext(ctx, "nsenter", append(entered, args...)...)
	command.Env = spec.Env
	// A grandchild may hold the pipes.
	command.WaitDelay = time.Second
	return command
}

// streams is the other side of kubectl exec and kubectl port-forward.
type streams struct {
	runtime *runtimeService
}

func (s *streams) Exec(ctx context.Context, id string, args []string, in io.Reader, out, failed io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	found, err := s.runtime.running(id)
	if err != nil {
		return err
	}
	command := found.command(ctx, args)
	// A nil io.Reader within an interface is no nil.
	if in != nil {
		command.Stdin = in
	}
	if out != nil {
		command.Stdout = out
	}
	if failed != nil {
		command.Stderr = failed
	}
	err = command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

func (s *streams) Attach(context.Context, string, io.Reader, io.WriteCloser, io.WriteCloser, bool, <-chan remotecommand.TerminalSize) error {
	return errors.New("attach is not to be had on this host: use exec")
}

// PortForward leads to the loopback of the pod.
func (s *streams) PortForward(ctx context.Context, id string, port int32, stream io.ReadWriteCloser) error {
	s.runtime.mutex.Lock()
	pod, ok := s.runtime.sandboxes[id]
	s.runtime.mutex.Unlock()
	if !ok || pod.network == nil {
		return notFound(fmt.Sprintf("no sandbox %s with a network of its own", id))
	}
	var connection net.Conn
	err := inNetwork(pod.network, func() error {
		var err error
		connection, err = new(net.Dialer).DialContext(ctx, "tcp", loopback(int(port)))
		return err
	})
	if err != nil {
		return err
	}
	defer connection.Close()
	go func() {
		_, _ = io.Copy(connection, stream)
		_ = connection.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, connection)
	return err
}
