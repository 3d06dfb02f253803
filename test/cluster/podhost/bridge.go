// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// The network of nodes and pods; nothing outside of the host's namespace ever sees it.
const (
	hostAddress = "10.244.0.1"
	prefixBits  = 16
	// Pods come after the nodes, which have 10.244.0.x.
	firstPod = 257
	lastPod  = 1<<prefixBits - 2
)

// bridge joins the nodes' addresses, which are the host's own, with the pods.
type bridge struct {
	link  netlink.Link
	mutex sync.Mutex
	next  int
	taken map[int]bool
}

func newBridge(nodes []Node) (*bridge, error) {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return nil, err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return nil, err
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = "pods"
	link := &netlink.Bridge{LinkAttrs: attributes}
	if err := netlink.LinkAdd(link); err != nil {
		return nil, fmt.Errorf("adding a bridge: %w", err)
	}
	addresses := []string{hostAddress}
	for _, node := range nodes {
		addresses = append(addresses, node.Address)
	}
	for _, address := range addresses {
		if err := netlink.AddrAdd(link, within(net.ParseIP(address))); err != nil {
			return nil, fmt.Errorf("adding the address %s: %w", address, err)
		}
	}
	return &bridge{link: link, next: firstPod, taken: map[int]bool{}}, netlink.LinkSetUp(link)
}

func within(address net.IP) *netlink.Addr {
	return &netlink.Addr{IPNet: &net.IPNet{IP: address, Mask: net.CIDRMask(prefixBits, 32)}}
}

// plug gives a network an address on the bridge, the only way out of it.
func (b *bridge) plug(network *os.File) (net.IP, error) {
	number, err := b.take()
	if err != nil {
		return nil, err
	}
	address := net.IPv4(10, 244, byte(number>>8), byte(number))
	if err := b.wire(network, number, address); err != nil {
		b.release(address)
		return nil, err
	}
	return address, nil
}

func (b *bridge) wire(network *os.File, number int, address net.IP) error {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = fmt.Sprintf("pod%d", number)
	attributes.MasterIndex = b.link.Attrs().Index
	pair := netlink.NewVeth(attributes)
	pair.PeerName, pair.PeerNamespace = "eth0", netlink.NsFd(network.Fd())
	if err := netlink.LinkAdd(pair); err != nil {
		return fmt.Errorf("adding a veth: %w", err)
	}
	if err := netlink.LinkSetUp(pair); err != nil {
		return err
	}
	inside, err := netlink.NewHandleAt(netns.NsHandle(network.Fd()))
	if err != nil {
		return err
	}
	defer inside.Close()
	for _, name := range []string{"lo", "eth0"} {
		link, err := inside.LinkByName(name)
		if err != nil {
			return err
		}
		if name == "eth0" {
			if err := inside.AddrAdd(link, within(address)); err != nil {
				return err
			}
		}
		if err := inside.LinkSetUp(link); err != nil {
			return err
		}
	}
	return inside.RouteAdd(&netlink.Route{Gw: net.ParseIP(hostAddress)})
}

// take goes round: an address that was somebody's a moment ago is not somebody else's.
func (b *bridge) take() (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for range lastPod - firstPod {
		number := b.next
		if b.next++; b.next > lastPod {
			b.next = firstPod
		}
		if !b.taken[number] {
			b.taken[number] = true
			return number, nil
		}
	}
	return 0, fmt.Errorf("no address is free")
}

func (b *bridge) release(address net.IP) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	four := address.To4()
	delete(b.taken, int(four[2])<<8|int(four[3]))
}
