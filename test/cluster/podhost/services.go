// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"

	"github.com/vishvananda/netlink"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// services gives each TCP port of each ClusterIP to a ready endpoint of its Service. Its addresses are
// the host's own, so no packet is ever changed on its way; a client's address is not kept.
type services struct {
	lo        netlink.Link
	slices    discoverylisters.EndpointSliceLister
	names     *names
	mutex     sync.Mutex
	listeners map[string]map[string]net.Listener
}

func serveServices(kubeconfig string, front *Front) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	config = rest.AddUserAgent(config, "podhost")
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	served := &services{lo: lo, slices: factory.Discovery().V1().EndpointSlices().Lister(), listeners: map[string]map[string]net.Listener{}}
	served.names = &names{services: factory.Core().V1().Services().Lister(), slices: served.slices, front: front}
	informer := factory.Core().V1().Services().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { served.update(object.(*core.Service)) },
		UpdateFunc: func(_, object any) { served.update(object.(*core.Service)) },
		DeleteFunc: func(object any) {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			gone := object.(*core.Service).DeepCopy()
			gone.Spec.Ports = nil
			served.update(gone)
		},
	})
	if err != nil {
		return err
	}
	if front != nil {
		if err := served.open(front); err != nil {
			return err
		}
	}
	factory.Start(context.Background().Done())
	return served.names.serve(net.JoinHostPort(hostAddress, "53"))
}

// open takes connections for the front's Service before there is one: they are reset until it has an endpoint.
func (s *services) open(front *Front) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(hostAddress, "80"))
	if err != nil {
		return err
	}
	go forward(listener, func() (net.Conn, error) { return s.dial(front.Namespace, front.Service, front.Port) })
	return nil
}

func keyOf(service *core.Service) string {
	return service.Namespace + "/" + service.Name
}

// update opens the listeners that a Service has come to want, and closes those that it no longer does.
func (s *services) update(service *core.Service) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := keyOf(service)
	open := s.listeners[key]
	if open == nil {
		open = map[string]net.Listener{}
		s.listeners[key] = open
	}
	wanted := map[string]string{}
	if net.ParseIP(service.Spec.ClusterIP) != nil {
		for _, port := range service.Spec.Ports {
			if port.Protocol == core.ProtocolTCP {
				wanted[net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(int(port.Port)))] = port.Name
			}
		}
	}
	for address, listener := range open {
		if _, ok := wanted[address]; !ok {
			listener.Close()
			delete(open, address)
		}
	}
	for address, port := range wanted {
		if open[address] != nil {
			continue
		}
		listener, err := s.listen(address)
		if err != nil {
			fmt.Println("cannot serve", key, "at", address, err)
			continue
		}
		open[address] = listener
		go forward(listener, func() (net.Conn, error) { return s.dial(service.Namespace, service.Name, port) })
	}
}

func (s *services) listen(address string) (net.Listener, error) {
	host, _, _ := net.SplitHostPort(address)
	own := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(host), Mask: net.CIDRMask(32, 32)}}
	if err := netlink.AddrReplace(s.lo, own); err != nil {
		return nil, err
	}
	return net.Listen("tcp", address)
}

// dial tries the ready endpoints in an order of chance, as one that has just gone may still be listed.
func (s *services) dial(namespace, name, port string) (net.Conn, error) {
	addresses := s.endpoints(namespace, name, port)
	rand.Shuffle(len(addresses), func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
	err := fmt.Errorf("%s/%s has no ready endpoint", namespace, name)
	for _, address := range addresses {
		var connection net.Conn
		if connection, err = net.Dial("tcp", address); err == nil {
			return connection, nil
		}
	}
	return nil, err
}

func (s *services) endpoints(namespace, name, port string) []string {
	selector := labels.SelectorFromSet(labels.Set{discovery.LabelServiceName: name})
	slices, err := s.slices.EndpointSlices(namespace).List(selector)
	if err != nil {
		return nil
	}
	var addresses []string
	for _, slice := range slices {
		for _, each := range slice.Ports {
			if each.Port == nil || (each.Name != nil && *each.Name != port) {
				continue
			}
			for _, endpoint := range slice.Endpoints {
				if isReady(endpoint) {
					addresses = append(addresses, net.JoinHostPort(endpoint.Addresses[0], strconv.Itoa(int(*each.Port))))
				}
			}
		}
	}
	return addresses
}

func isReady(endpoint discovery.Endpoint) bool {
	return len(endpoint.Addresses) > 0 && (endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready)
}
