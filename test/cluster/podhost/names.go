// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
)

const zone = ".svc.cluster.local."

// names answers for `service.namespace.svc.cluster.local`, and for `hostname.service.…` of a headless
// one's pods: A records only, of UDP, as every resolver asks first.
type names struct {
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
}

func (n *names) serve(address string) error {
	connection, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	go func() {
		buffer := make([]byte, 4096)
		for {
			size, client, err := connection.ReadFrom(buffer)
			if err != nil {
				return
			}
			if answer, err := n.answer(buffer[:size]); err == nil {
				_, _ = connection.WriteTo(answer, client)
			}
		}
	}()
	return nil
}

func (n *names) answer(text []byte) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(text)
	if err != nil {
		return nil, err
	}
	question, err := parser.Question()
	if err != nil {
		return nil, err
	}
	addresses, known := n.look(strings.ToLower(question.Name.String()))
	header.Response, header.Authoritative, header.RecursionAvailable = true, true, true
	if !known {
		header.RCode = dnsmessage.RCodeNameError
	}
	builder := dnsmessage.NewBuilder(nil, header)
	builder.EnableCompression()
	if err := builder.StartQuestions(); err != nil {
		return nil, err
	}
	if err := builder.Question(question); err != nil {
		return nil, err
	}
	if err := builder.StartAnswers(); err != nil {
		return nil, err
	}
	if question.Type != dnsmessage.TypeA {
		return builder.Finish()
	}
	for _, address := range addresses {
		record := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 1}
		if err := builder.AResource(record, dnsmessage.AResource{A: [4]byte(address.To4())}); err != nil {
			return nil, err
		}
	}
	return builder.Finish()
}

// look answers whether there is such a name, too: one without an address is no unknown one.
func (n *names) look(name string) ([]net.IP, bool) {
	rest, ok := strings.CutSuffix(name, zone)
	if !ok {
		return nil, false
	}
	parts := strings.Split(rest, ".")
	if len(parts) < 2 || len(parts) > 3 {
		return nil, false
	}
	hostname, service, namespace := "", parts[len(parts)-2], parts[len(parts)-1]
	if len(parts) == 3 {
		hostname = parts[0]
	}
	found, err := n.services.Services(namespace).Get(service)
	if err != nil {
		return nil, false
	}
	if hostname == "" && found.Spec.ClusterIP != core.ClusterIPNone {
		return []net.IP{net.ParseIP(found.Spec.ClusterIP)}, true
	}
	addresses := n.pods(namespace, service, hostname)
	return addresses, hostname == "" || len(addresses) > 0
}

func (n *names) pods(namespace, service, hostname string) []net.IP {
	selector := labels.SelectorFromSet(labels.Set{discovery.LabelServiceName: service})
	slices, err := n.slices.EndpointSlices(namespace).List(selector)
	if err != nil {
		return nil
	}
	var addresses []net.IP
	for _, slice := range slices {
		for _, endpoint := range slice.Endpoints {
			if isReady(endpoint) && (hostname == "" || endpoint.Hostname != nil && *endpoint.Hostname == hostname) {
				addresses = append(addresses, net.ParseIP(endpoint.Addresses[0]))
			}
		}
	}
	return addresses
}
