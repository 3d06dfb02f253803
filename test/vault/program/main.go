// SPDX-License-Identifier: Apache-2.0

// Command vault is a server of HashiCorp Vault, for tests: its own core and API, with the PKI
// secrets engine and the auth method for Kubernetes, and its data in a directory. It starts sealed.
package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"

	"github.com/hashicorp/go-hclog"
	kubeauth "github.com/hashicorp/vault-plugin-auth-kubernetes"
	"github.com/hashicorp/vault/builtin/logical/pki"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/file"
	"github.com/hashicorp/vault/vault"

	"countersign.dev/test/owner"
)

func main() {
	owner.End()
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "want a directory, an address, a certificate and its key")
		os.Exit(2)
	}
	directory, address, certificate, key := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	log := hclog.New(&hclog.LoggerOptions{Name: "vault", Level: hclog.Warn})
	storage, err := file.NewFileBackend(map[string]string{"path": directory}, log)
	must("open the directory", err)
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical:           storage,
		LogicalBackends:    map[string]logical.Factory{"pki": pki.Factory},
		CredentialBackends: map[string]logical.Factory{"kubernetes": kubeauth.Factory},
		BuiltinRegistry:    registry{},
		DisableMlock:       true,
		Logger:             log,
	})
	must("make the core", err)
	pair, err := tls.LoadX509KeyPair(certificate, key)
	must("read the certificate", err)
	listener, err := tls.Listen("tcp", address, &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS12,
	})
	must("listen", err)
	fmt.Println("listening")
	handler := vaulthttp.Handler.Handler(&vault.HandlerProperties{Core: core})
	must("serve", http.Serve(listener, handler))
}

// must ends the process with a message when what it was about to do failed.
func must(doing string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "vault: %s: %v\n", doing, err)
		os.Exit(1)
	}
}

// registry names the two plugins, which are part of this program.
type registry struct{}

var plugins = map[consts.PluginType]map[string]logical.Factory{
	consts.PluginTypeSecrets:    {"pki": pki.Factory},
	consts.PluginTypeCredential: {"kubernetes": kubeauth.Factory},
}

func (registry) Contains(name string, kind consts.PluginType) bool {
	_, known := plugins[kind][name]
	return known
}

func (registry) Get(name string, kind consts.PluginType) (func() (interface{}, error), bool) {
	factory, known := plugins[kind][name]
	return func() (interface{}, error) { return factory, nil }, known
}

func (registry) Keys(kind consts.PluginType) []string {
	names := []string{}
	for name := range plugins[kind] {
		names = append(names, name)
	}
	return names
}

func (r registry) DeprecationStatus(name string, kind consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Supported, r.Contains(name, kind)
}

func (registry) IsBuiltinEntPlugin(string, consts.PluginType) bool { return false }
