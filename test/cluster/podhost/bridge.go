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

// Numbers of pods; nodes have smaller ones.
const (
	firstPod = 257
	lastPod  = 1<<16 - 2
)

// bridge joins the nodes' addresses, which are the host's own, with the pods.
type bridge struct {
	link     netlink.Link
	families []family
	mutex    sync.Mutex
	next     int
	taken    map[int]bool
}

func newBridge(families []family, nodes []Node) (*bridge, error) {
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
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, err
	}
	made := &bridge{link: link, families: families, next: firstPod, taken: map[int]bool{}}
	addresses := hostAddresses(families)
	for _, node := range nodes {
		own, err := parseAddresses(node.Addresses)
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, own...)
	}
	for _, address := range addresses {
		if err := made.add(address); err != nil {
			return nil, fmt.Errorf("adding the address %s: %w", address, err)
		}
	}
	return made, nil
}

// add gives the host an address of the family that it is of.
func (b *bridge) add(address net.IP) error {
	for _, each := range b.families {
		if each.name == familyOf(address.String()) {
			return netlink.AddrAdd(b.link, each.onBridge(address))
		}
	}
	return fmt.Errorf("the host has no network of this family")
}

// plug gives a network an address of each family on the bridge, the only way out of it.
func (b *bridge) plug(network *os.File) ([]net.IP, error) {
	number, err := b.take()
	if err != nil {
		return nil, err
	}
	var addresses []net.IP
	for _, each := range b.families {
		addresses = append(addresses, each.address(number))
	}
	if err := b.wire(network, number); err != nil {
		b.release(addresses)
		return nil, err
	}
	return addresses, nil
}

func (b *bridge) wire(network *os.File, number int) error {
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
		if err := inside.LinkSetUp(link); err != nil {
			return err
		}
	}
	link, err := inside.LinkByName("eth0")
	if err != nil {
		return err
	}
	for _, each := range b.families {
		if err := inside.AddrAdd(link, each.onBridge(each.address(number))); err != nil {
			return fmt.Errorf("adding an address of %s: %w", each.name, err)
		}
		if err := inside.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Gw: each.host}); err != nil {
			return fmt.Errorf("adding a route of %s: %w", each.name, err)
		}
	}
	return nil
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

func (b *bridge) release(addresses []net.IP) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.taken, numberOf(addresses[0]))
}
