// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
)

// Config is the one argument of serve: a file of JSON.
type Config struct {
	// Directory holds what lives as long as the host; below the cluster's own.
	Directory string `json:"directory"`
	// NamespaceFile is written when others may enter: the path of the network namespace.
	NamespaceFile string `json:"namespaceFile"`
	// Ports of 127.0.0.1 that lead to the same ports of the inner 127.0.0.1.
	Ports []int `json:"ports"`
	// Kubeconfig of somebody who reads Services, EndpointSlices and Pods.
	Kubeconfig string `json:"kubeconfig"`
	// Images is a file of Image by name, read again at each look: tests add to it.
	Images string `json:"images"`
	// HealthPort is one of Ports.
	HealthPort int `json:"healthPort"`
	// Families of pods' addresses, that of status.podIP first.
	Families []string `json:"families"`
	Nodes    []Node   `json:"nodes"`
	// Front is absent where the host has no names but those of Services.
	Front *Front `json:"front"`
}

// Node is one kubelet's part of the host.
type Node struct {
	Name string `json:"name"`
	// Addresses of the node, within the bridge's network: one of each family, in their order.
	Addresses []string `json:"addresses"`
	// Socket is where the node's CRI listens.
	Socket string `json:"socket"`
}

// Front gives every name below some domains to the host's own address, whose port 80 leads to a Service, as an Ingress
// controller would.
type Front struct {
	// Domains are those that are reserved for examples (RFC 2606).
	Domains   []string `json:"domains"`
	Namespace string   `json:"namespace"`
	Service   string   `json:"service"`
	// Port is the name of the Service's port.
	Port string `json:"port"`
}

// has answers for a name with its last dot.
func (f *Front) has(name string) bool {
	below := func(domain string) bool { return strings.HasSuffix(name, "."+domain+".") }
	return f != nil && slices.ContainsFunc(f.Domains, below)
}

// Image is what a registry would answer with.
type Image struct {
	// Root is a directory that is never written to.
	Root       string   `json:"root"`
	Entrypoint []string `json:"entrypoint"`
	Cmd        []string `json:"cmd"`
	Env        []string `json:"env"`
	UID        int64    `json:"uid"`
	// ID differs where contents do; the name stands for it where it is left out.
	ID string `json:"id"`
}

func readConfig(file string) Config {
	var config Config
	text := got[[]byte]("reading the configuration")(os.ReadFile(file))
	must("reading the configuration", json.Unmarshal(text, &config))
	return config
}

func readImages(file string) (map[string]Image, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	images := map[string]Image{}
	return images, json.Unmarshal(text, &images)
}
