// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is all that a container's first process is made from.
type process struct {
	// Root is the image's directory.
	Root string `json:"root"`
	// Scratch is an empty directory, below which the container's own mounts lie.
	Scratch      string   `json:"scratch"`
	Args         []string `json:"args"`
	Env          []string `json:"env"`
	Directory    string   `json:"directory"`
	Hostname     string   `json:"hostname"`
	UID          int      `json:"uid"`
	GID          int      `json:"gid"`
	Groups       []int    `json:"groups"`
	ReadOnlyRoot bool     `json:"readOnlyRoot"`
	NoNewPrivs   bool     `json:"noNewPrivs"`
	Privileged   bool     `json:"privileged"`
	// Capabilities are those that stay, by number; none are where the user is not root.
	Capabilities []uintptr `json:"capabilities"`
	Mounts       []mount   `json:"mounts"`
	// Files by path: what the runtime writes itself.
	Files map[string]string `json:"files"`
}

// mount binds a file or directory of the host into the container.
type mount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"readOnly"`
}

// The descriptors that the runtime hands over besides the standard streams.
const (
	specDescriptor = 3 + iota
	networkDescriptor
	failureDescriptor
)

// runContainer makes the container around itself and becomes its program. It is started as the first
// process of namespaces of its own, all but the network, which is the pod's.
func runContainer([]string) {
	for descriptor := specDescriptor; descriptor <= failureDescriptor; descriptor++ {
		unix.CloseOnExec(descriptor)
	}
	if err := becomeContainer(); err != nil {
		// Nobody reads on when this has been closed by execve.
		fmt.Fprint(os.NewFile(failureDescriptor, "failure"), err)
		os.Exit(128)
	}
}

func becomeContainer() error {
	var spec process
	if err := json.NewDecoder(os.NewFile(specDescriptor, "spec")).Decode(&spec); err != nil {
		return err
	}
	if err := unix.Setns(networkDescriptor, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering the pod's network: %w", err)
	}
	if err := unix.Sethostname([]byte(spec.Hostname)); err != nil {
		return err
	}
	if err := spec.enterRoot(); err != nil {
		return err
	}
	if err := os.Chdir(spec.Directory); err != nil {
		return err
	}
	if err := spec.becomeUser(); err != nil {
		return err
	}
	os.Clearenv()
	for _, entry := range spec.Env {
		name, value, _ := strings.Cut(entry, "=")
		os.Setenv(name, value)
	}
	program, err := exec.LookPath(spec.Args[0])
	if err != nil {
		return err
	}
	return fmt.Errorf("running %s: %w", program, syscall.Exec(program, spec.Args, spec.Env))
}

// enterRoot makes the root file system and becomes blind to any other.
func (p process) enterRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", p.Scratch, "tmpfs", 0, ""); err != nil {
		return err
	}
	root, err := mountOverlay(p.Scratch, p.Root)
	if err != nil {
		return err
	}
	if err := prepareSystem(root); err != nil {
		return err
	}
	for path, text := range p.Files {
		if err := writeBelow(root, path, text); err != nil {
			return err
		}
	}
	for _, each := range p.Mounts {
		if err := each.bind(root); err != nil {
			return fmt.Errorf("mounting %s: %w", each.Target, err)
		}
	}
	if p.ReadOnlyRoot {
		if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("making the root read-only: %w", err)
		}
	}
	// pivot_root(2) says why this works with one directory.
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/")
}

// mountOverlay lays a layer of memory over a directory that stays as it is.
func mountOverlay(scratch, lower string) (string, error) {
	under := func(name string) string { return filepath.Join(scratch, name) }
	for _, name := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(under(name), 0o755); err != nil {
			return "", err
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", lower, under("upper"), under("work"))
	if err := unix.Mount("overlay", under("root"), "overlay", 0, options); err != nil {
		return "", fmt.Errorf("mounting an overlay: %w", err)
	}
	return under("root"), nil
}

// prepareSystem mounts what every container has: /proc of its own processes and a small /dev.
func prepareSystem(root string) error {
	for _, name := range []string{"proc", "dev", "sys", "tmp", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o1777|os.ModeSticky); err != nil {
		return err
	}
	const careful = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", filepath.Join(root, "proc"), "proc", careful, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	devices := filepath.Join(root, "dev")
	if err := unix.Mount("tmpfs", devices, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=755"); err != nil {
		return fmt.Errorf("mounting /dev: %w", err)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		device := mount{Source: "/dev/" + name, Target: "/dev/" + name}
		if err := device.bind(root); err != nil {
			return fmt.Errorf("mounting %s: %w", device.Target, err)
		}
	}
	// Writable also where the root is not.
	shared := filepath.Join(devices, "shm")
	if err := os.Mkdir(shared, 0o777); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", shared, "tmpfs", careful, "mode=1777,size=64m"); err != nil {
		return fmt.Errorf("mounting /dev/shm: %w", err)
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, filepath.Join(devices, name)); err != nil {
			return err
		}
	}
	return nil
}

// bind makes the place where there is none, as runtimes do.
func (m mount) bind(root string) error {
	target := filepath.Join(root, m.Target)
	from, err := os.Stat(m.Source)
	if err != nil {
		return err
	}
	if from.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else if _, missing := os.Stat(target); missing != nil {
		err = writeBelow(root, m.Target, "")
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(m.Source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if !m.ReadOnly {
		return nil
	}
	return unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
}

func writeBelow(root, path, text string) error {
	target := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, []byte(text), 0o644)
}

// becomeUser gives up what the container is not to have; the bounding set first, which takes root.
func (p process) becomeUser() error {
	if !p.Privileged {
		if err := p.dropCapabilities(); err != nil {
			return err
		}
	}
	if err := syscall.Setgroups(p.Groups); err != nil {
		return err
	}
	if err := syscall.Setresgid(p.GID, p.GID, p.GID); err != nil {
		return err
	}
	if err := syscall.Setresuid(p.UID, p.UID, p.UID); err != nil {
		return err
	}
	if p.NoNewPrivs {
		return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	return nil
}

func (p process) dropCapabilities() error {
	keep := map[uintptr]bool{}
	for _, capability := range p.Capabilities {
		keep[capability] = true
	}
	for capability := uintptr(0); capability <= unix.CAP_LAST_CAP; capability++ {
		if keep[capability] {
			continue
		}
		// EINVAL: the kernel is older than this capability.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil && err != unix.EINVAL {
			return err
		}
	}
	return nil
}
