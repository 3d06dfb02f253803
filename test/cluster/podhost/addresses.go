// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// family is the network of nodes and pods in one IP family; nothing outside of the host's namespace
// ever sees it. The same is in test/cluster/real-pods/addresses.ts.
type family struct {
	name string
	// host is the address of the host itself, whose last two bytes number the nodes and pods.
	host       net.IP
	prefixBits int
}

var families = []family{
	{name: "IPv4", host: net.ParseIP("10.244.0.1").To4(), prefixBits: 16},
	{name: "IPv6", host: net.ParseIP("fd00:10:244::1"), prefixBits: 64},
}

// familiesNamed keeps the order of the names: the first family is that of status.podIP.
func familiesNamed(names []string) ([]family, error) {
	var found []family
	for _, name := range names {
		for _, each := range families {
			if each.name == name {
				found = append(found, each)
			}
		}
	}
	if len(found) == 0 || len(found) < len(names) {
		return nil, fmt.Errorf("IP families %q: want IPv4, IPv6 or both", names)
	}
	return found, nil
}

func hostAddresses(families []family) []net.IP {
	var addresses []net.IP
	for _, each := range families {
		addresses = append(addresses, each.host)
	}
	return addresses
}

// address of the node or pod of this number.
func (f family) address(number int) net.IP {
	address := append(net.IP{}, f.host...)
	address[len(address)-2], address[len(address)-1] = byte(number>>8), byte(number)
	return address
}

// numberOf is the inverse of address.
func numberOf(address net.IP) int {
	return int(address[len(address)-2])<<8 | int(address[len(address)-1])
}

// onBridge is an address of the bridge's network. It is used at once: no other machine can have it.
func (f family) onBridge(address net.IP) *netlink.Addr {
	return &netlink.Addr{
		IPNet: &net.IPNet{IP: address, Mask: net.CIDRMask(f.prefixBits, 8*len(f.host))},
		Flags: flagsOf(address),
	}
}

// alone is an address without a network.
func alone(address net.IP) *netlink.Addr {
	bits := 8 * net.IPv6len
	if four := address.To4(); four != nil {
		address, bits = four, 8*net.IPv4len
	}
	return &netlink.Addr{IPNet: &net.IPNet{IP: address, Mask: net.CIDRMask(bits, bits)}, Flags: flagsOf(address)}
}

// flagsOf says that duplicate address detection (RFC 4862 §5.4) is left out.
func flagsOf(address net.IP) int {
	if address.To4() != nil {
		return 0
	}
	return unix.IFA_F_NODAD
}

func parseAddresses(texts []string) ([]net.IP, error) {
	var addresses []net.IP
	for _, text := range texts {
		address := net.ParseIP(text)
		if address == nil {
			return nil, fmt.Errorf("%q is no IP address", text)
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

// familyOf is that of an address with or without its port.
func familyOf(address string) string {
	if strings.Count(address, ":") > 1 {
		return "IPv6"
	}
	return "IPv4"
}
