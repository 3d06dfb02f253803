// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"io"
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
// one's pods, and for names of the front's domains: A and AAAA records. Resolvers ask over UDP, and
// some, such as Pebble's, over TCP.
type names struct {
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	front    *Front
	// Addresses of the host itself.
	host []net.IP
}

func (n *names) serve(address string) error {
	connection, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	go n.serveTCP(listener)
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

func (n *names) serveTCP(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer connection.Close()
			for n.answerOver(connection) == nil {
			}
		}()
	}
}

// answerOver reads one question and writes its answer, each after its length (RFC 1035 §4.2.2).
func (n *names) answerOver(connection net.Conn) error {
	var size [2]byte
	if _, err := io.ReadFull(connection, size[:]); err != nil {
		return err
	}
	text := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(connection, text); err != nil {
		return err
	}
	answer, err := n.answer(text)
	if err != nil {
		return err
	}
	_, err = connection.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	return err
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
	for _, address := range addresses {
		if err := addRecord(&builder, question, address); err != nil {
			return nil, err
		}
	}
	return builder.Finish()
}

// addRecord adds nothing where the question is for the other family.
func addRecord(builder *dnsmessage.Builder, question dnsmessage.Question, address net.IP) error {
	record := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 1}
	four := address.To4()
	switch {
	case question.Type == dnsmessage.TypeA && four != nil:
		return builder.AResource(record, dnsmessage.AResource{A: [4]byte(four)})
	case question.Type == dnsmessage.TypeAAAA && four == nil:
		return builder.AAAAResource(record, dnsmessage.AAAAResource{AAAA: [16]byte(address)})
	}
	return nil
}

// look answers whether there is such a name, too: one without an address is no unknown one.
func (n *names) look(name string) ([]net.IP, bool) {
	if n.front.has(name) {
		return n.host, true
	}
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
		addresses, err := parseAddresses(found.Spec.ClusterIPs)
		return addresses, err == nil
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
