// SPDX-License-Identifier: Apache-2.0

package main

import "k8s.io/mount-utils"

// podMounter makes the mounts of a node whose containers run. It mounts no tmpfs: tests read the
// files of pods from outside, where the mounts of the host are not visible.
type podMounter struct {
	mount.Interface
	tmpfs *mount.FakeMounter
}

func newPodMounter() mount.Interface {
	return podMounter{Interface: mount.New(""), tmpfs: mount.NewFakeMounter(nil)}
}

func (m podMounter) of(fstype string) mount.Interface {
	if fstype == "tmpfs" {
		return m.tmpfs
	}
	return m.Interface
}

func (m podMounter) Mount(source, target, fstype string, options []string) error {
	return m.of(fstype).Mount(source, target, fstype, options)
}

func (m podMounter) MountSensitive(source, target, fstype string, options, sensitive []string) error {
	return m.of(fstype).MountSensitive(source, target, fstype, options, sensitive)
}

func (m podMounter) MountSensitiveWithoutSystemd(source, target, fstype string, options, sensitive []string) error {
	return m.of(fstype).MountSensitiveWithoutSystemd(source, target, fstype, options, sensitive)
}

func (m podMounter) Unmount(target string) error {
	if faked, err := m.tmpfs.IsMountPoint(target); err == nil && faked {
		return m.tmpfs.Unmount(target)
	}
	return m.Interface.Unmount(target)
}

func (m podMounter) List() ([]mount.MountPoint, error) {
	faked, err := m.tmpfs.List()
	if err != nil {
		return nil, err
	}
	made, err := m.Interface.List()
	return append(made, faked...), err
}

func (m podMounter) IsLikelyNotMountPoint(file string) (bool, error) {
	if isNot, err := m.tmpfs.IsLikelyNotMountPoint(file); err != nil || !isNot {
		return isNot, err
	}
	return m.Interface.IsLikelyNotMountPoint(file)
}

func (m podMounter) IsMountPoint(file string) (bool, error) {
	if is, err := m.tmpfs.IsMountPoint(file); err != nil || is {
		return is, err
	}
	return m.Interface.IsMountPoint(file)
}
