// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
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

func serveServices(kubeconfig string, families []family, front *Front) error {
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
	served.names = &names{services: factory.Core().V1().Services().Lister(), slices: served.slices, front: front, host: hostAddresses(families)}
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
	for _, address := range served.names.host {
		if err := served.names.serve(net.JoinHostPort(address.String(), "53")); err != nil {
			return err
		}
	}
	return nil
}

// open takes connections for the front's Service before there is one: they are reset until it has an endpoint.
func (s *services) open(front *Front) error {
	for _, address := range s.names.host {
		listener, err := net.Listen("tcp", net.JoinHostPort(address.String(), "80"))
		if err != nil {
			return err
		}
		ready := func() []string { return s.endpoints(front.Namespace, front.Service, front.Port) }
		go forward(listener, func() (net.Conn, error) { return dialEndpoint(front.Service, ready()) })
	}
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
	for _, own := range service.Spec.ClusterIPs {
		for _, port := range service.Spec.Ports {
			if own != core.ClusterIPNone && port.Protocol == core.ProtocolTCP {
				wanted[net.JoinHostPort(own, strconv.Itoa(int(port.Port)))] = port.Name
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
		ready := func() []string {
			return ofFamily(familyOf(address), s.endpoints(service.Namespace, service.Name, port))
		}
		go forward(listener, func() (net.Conn, error) { return dialEndpoint(key, ready()) })
	}
}

func (s *services) listen(address string) (net.Listener, error) {
	host, _, _ := net.SplitHostPort(address)
	if err := netlink.AddrReplace(s.lo, alone(net.ParseIP(host))); err != nil {
		return nil, err
	}
	return net.Listen("tcp", address)
}

// ofFamily keeps the endpoints that kube-proxy would give to an address of this family.
func ofFamily(family string, endpoints []string) []string {
	return slices.DeleteFunc(endpoints, func(each string) bool { return familyOf(each) != family })
}

// dialEndpoint tries the ready endpoints in an order of chance, as one that has just gone may still be listed.
func dialEndpoint(service string, addresses []string) (net.Conn, error) {
	rand.Shuffle(len(addresses), func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
	err := fmt.Errorf("%s has no ready endpoint", service)
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
	found, err := s.slices.EndpointSlices(namespace).List(selector)
	if err != nil {
		return nil
	}
	var addresses []string
	for _, slice := range found {
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
