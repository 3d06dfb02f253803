# SPDX-License-Identifier: Apache-2.0
# Two commands do everything: `make demo` and `make test`. Each installs and builds what it needs,
# and only what is missing. `make verify` runs every long suite as well.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

# Tests start the bundle: a component from its sources takes four times the CPU time until its first call.
PROGRAM := COUNTERSIGN_PROGRAM="$(CURDIR)/dist/countersign.mjs"
# The project's own Node 24; npm itself runs on the system's Node.
RUN := PATH="$(CURDIR)/node_modules/.bin:$$PATH" $(PROGRAM)
# What Node made of the TypeScript, kept by content: a third less CPU time for tests and components.
COMPILED := NODE_COMPILE_CACHE="$(CURDIR)/.cache/compile"
# How the image runs Node, and the heap that Node takes there by itself.
IMAGE_FLAGS := $(shell grep '^ENTRYPOINT' Dockerfile | grep -o '\-\-[a-z0-9=-]*') --max-old-space-size=320
# Fails if something that the command started is alive at its end.
WATCHED := node test/support/processes/watched.ts
# The demo uses a cluster of the user only where make's command line says so: an exported KUBECONFIG
# changes nothing.
OWN_CLUSTER := $(filter command,$(firstword $(origin KUBECONFIG)))
KUBERNETES ?= 1.37
ARGS ?=
# The folders of unit tests, those that take longest first.
UNIT := test/cli test/ca test/architecture test/fuzz test/requests test/acme test/install test/kube test/ledger test/base test/pki test/cel test/api test/component test/trust test/workloads test/notify test/conformance test/app test/operations test/diagnose test/console test/library test/verify test/faults/proxy test/faults/ledger test/go test/bench

.PHONY: help
help: ## Show the targets
	@grep -hE '^[a-z0-9.-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

.PHONY: demo
demo: node_modules $(if $(OWN_CLUSTER),,controlplane) dist/countersign.mjs ## The whole story on a real cluster; ACME=1 adds a certificate of a local ACME server, ARGS=--keep leaves the cluster up; KUBECONFIG=… IMAGE=… tells it on a cluster of yours
	$(RUN) $(WATCHED) node demo/main.ts $(if $(ACME),--acme) $(if $(OWN_CLUSTER),--kubeconfig '$(KUBECONFIG)' --image '$(IMAGE)') $(ARGS)

.PHONY: test
test: ## make check and oracle, then the integration tests on the real control plane; prints the time of each part
	@times=(); \
	for part in node_modules format types lint unit oracle package controlplane integration; do \
	  began=$$SECONDS; \
	  $(MAKE) --no-print-directory $$part; \
	  times+=("$$(printf '%6d s  %s' $$((SECONDS - began)) $$part)"); \
	done; \
	printf '%s\n' "$${times[@]}"

.PHONY: integration
integration: node_modules controlplane dist/countersign.mjs ## The integration tests on the real control plane, without those that take long
	$(COMPILED) $(RUN) $(WATCHED) node test/integration/run.ts --version 1.37 --part short

.PHONY: test-long
test-long: node_modules package controlplane dist/countersign.mjs ## The integration tests that take long: rights, crashes, conformance, the image; SHARE=1/3 takes every third file
	$(COMPILED) $(RUN) node test/integration/run.ts --version 1.37 --part long $(if $(SHARE),--share $(SHARE))

.PHONY: test-1.36
test-1.36: node_modules dist/countersign.mjs ## The suite for certificates.k8s.io/v1beta1 on Kubernetes 1.36
	$(RUN) node test/cluster/build.ts 1.36
	$(COMPILED) $(RUN) node test/integration/run.ts --version 1.36

.PHONY: check
check: format types lint unit ## Format, types, lint, architecture and unit tests

.PHONY: affected
affected: node_modules dist/countersign.mjs ## Format, types, lint and the unit tests that the change since `main` reaches by imports, committed or not; SINCE=<commit>
	$(COMPILED) $(RUN) node test/verify/check-affected.ts $(if $(SINCE),--since $(SINCE)) $(UNIT)

.PHONY: verify
verify: node_modules ## Every long suite whose row in docs/reference/verified.md does not count any more; ONLY=acme,ledger or SINCE=<commit> runs others
	$(RUN) node test/verify/main.ts $(if $(ONLY),--only $(ONLY)) $(if $(SINCE),--since $(SINCE))

.PHONY: format
format: node_modules
	$(RUN) prettier --check --log-level warn --cache --cache-location .cache/prettier .

.PHONY: types
types: node_modules
	$(RUN) tsc -p .
	$(RUN) tsc -p src/console/browser

# Without a cache. Rules that know types judge a file by the declarations of other files, and the
# cache looks at that file alone.
.PHONY: lint
lint: node_modules
	$(RUN) eslint --max-warnings 0 --concurrency 2 .

.PHONY: unit
unit: node_modules dist/countersign.mjs
	$(COMPILED) $(RUN) $(WATCHED) node test/unit/run.ts $(UNIT)

.PHONY: package
package: node_modules dist/library/index.mjs dist/countersign.mjs ## The library as npm pack makes it, in the hands of an outsider
	$(RUN) $(WATCHED) node --test 'test/npm-consumer/*.test.ts'

.PHONY: krew
krew: node_modules dist/countersign.mjs ## The kubectl plugin's archive and krew manifest; ARGS='--uri https://…' where it will be served
	$(RUN) node build/krew.ts $(ARGS)

.PHONY: oracle
oracle: node_modules dist/countersign.mjs ## What Go and OpenSSL refuse we refuse: a corpus and 10,000 mutations
	$(RUN) node test/oracle/build.ts >/dev/null
	$(COMPILED) $(RUN) $(WATCHED) node --test 'test/oracle/*.test.ts'

.PHONY: test-java
test-java: node_modules ## keytool of a JDK opens the PKCS#12 files that we write
	$(RUN) node --test test/oracle/java-run.ts

.PHONY: test-shells
test-shells: node_modules controlplane dist/countersign.mjs ## Real shells complete commands and names of a real cluster; takes zsh and fish
	$(RUN) node --test test/cli/shells/run.ts test/cli/hostile-names.test.ts

.PHONY: test-oracle-mutations
test-oracle-mutations: node_modules dist/countersign.mjs ## What Go and OpenSSL refuse of 100,000 mutations we refuse
	$(RUN) node test/oracle/build.ts >/dev/null
	ORACLE=mutations $(COMPILED) $(RUN) node --test 'test/oracle/mutated-*.test.ts'

.PHONY: test-oracle
test-oracle: node_modules dist/countersign.mjs ## The oracle with 2,000,000 mutations, a million serials and 1,000 leaves of every kind
	$(RUN) node test/oracle/build.ts >/dev/null
	ORACLE=long $(COMPILED) $(RUN) node --test 'test/oracle/*.test.ts'

.PHONY: fuzz
fuzz: node_modules ## Every parser, guided by its branches; ARGS='--target request --seconds 3600 --seed 7'
	$(RUN) node test/fuzz/main.ts $(ARGS)

.PHONY: test-cel-cost
test-cel-cost: node_modules ## Ten minutes' search for expressions, patterns and specs that take longer than their price; red if one returns in five of five runs alone; ARGS='600 1' (seconds, seed)
	$(RUN) node $(IMAGE_FLAGS) test/cel/cost-search/main.ts $(ARGS)

.PHONY: test-faults
test-faults: node_modules controlplane dist/countersign.mjs ## 20,000 requests under faults of every kind; ARGS='--requests 20000 --seed 1'
	$(RUN) node test/faults/run.ts $(ARGS)

.PHONY: test-faults-short
test-faults-short: node_modules controlplane dist/countersign.mjs ## What must hold under each kind of fault, on a real control plane
	$(MAKE) --jobs=2 --output-sync=target faults-laws faults-mixed

# Both at once, each on a control plane of its own: the laws wait for Leases, mostly.
.PHONY: faults-laws
faults-laws: node_modules controlplane dist/countersign.mjs
	$(RUN) node --test --test-timeout=300000 $(ARGS) test/faults/invariants/invariants.test.ts

.PHONY: faults-mixed
faults-mixed: node_modules controlplane dist/countersign.mjs
	$(RUN) node test/faults/run.ts --requests 1000 $(if $(SEED),--seed $(SEED))

.PHONY: test-ledger-faults
test-ledger-faults: node_modules controlplane dist/countersign.mjs ## The same with a ledger, and faults of it and its database: half an hour; ARGS='--requests 1000 --mode best-effort --database postgres'
	$(RUN) node test/faults/ledger/run.ts $(ARGS)

.PHONY: test-silence
test-silence: node_modules controlplane dist/countersign.mjs ## All laws of faults, with those that wait for silence to be noticed: ten minutes
	FAULTS=long $(RUN) node --test --test-timeout=900000 test/faults/invariants/invariants.test.ts

.PHONY: test-flood
test-flood: node_modules dist/countersign.mjs ## 200,000 pending requests at once in the heap of a pod; ARGS='--requests 50000'
	$(RUN) node test/faults/flood/run.ts $(ARGS)

.PHONY: test-flood-real
test-flood-real: node_modules controlplane dist/countersign.mjs ## 20,000 pending requests on the real API server; ARGS='--requests 50000'
	$(RUN) node test/faults/flood/real.ts $(ARGS)

.PHONY: test-cert-manager
test-cert-manager: node_modules controlplane dist/countersign.mjs ## With the real cert-manager, built once from its Go module: Certificates to Secrets
	$(RUN) node test/certmanager/build.ts >/dev/null
	$(RUN) node --test --test-timeout=300000 --test-concurrency=1 test/certmanager/run.ts test/certmanager/upstream.ts

.PHONY: test-install
test-install: node_modules controlplane dist/countersign.mjs ## The chart with the real helm: equal to its source; installed, upgraded, rolled back, removed
	$(RUN) node test/helm/tools/build.ts >/dev/null
	$(RUN) node test/cluster/real-pods/build.ts >/dev/null
	$(RUN) node --test --test-timeout=600000 --test-concurrency=1 'test/helm/*.test.ts'

# What a cluster may have that others have not, as the tests of single aspects know it: IPv6,
# restricted-v2, nodes of mixed systems, a proxy, and renderings without a cluster.
CLUSTER_ASPECTS := test/app/component-options.test.ts test/app/egress-proxy.test.ts test/base/egress/*.test.ts test/component/web/server.test.ts test/helm/openshift.test.ts test/install/chart-determinism.test.ts test/install/openshift.test.ts test/kube/client/client-tls.test.ts

.PHONY: test-clusters
test-clusters: node_modules controlplane dist/countersign.mjs ## Each way to install, on each kind of cluster: IPv6, restricted-v2, nodes of Windows, volumes of root, a proxy; takes root
	$(RUN) node test/helm/tools/build.ts helm >/dev/null
	$(RUN) node test/cluster/real-pods/build.ts >/dev/null
	$(RUN) node test/acme/build.ts >/dev/null
	$(RUN) node --test --test-concurrency=1 --test-timeout=900000 $(CLUSTER_ASPECTS) test/clusters/*-run.ts

.PHONY: test-monitoring
test-monitoring: node_modules controlplane dist/countersign.mjs ## Alerts by promtool's unit tests; every query of the dashboards in a real Prometheus, built once from its Go module; PICTURES=DIRECTORY draws them
	$(RUN) node test/monitoring/tools/build.ts >/dev/null
	$(RUN) node test/acme/build.ts >/dev/null
	$(RUN) node test/stepca/build.ts >/dev/null
	$(RUN) node test/certmanager/build.ts >/dev/null
	$(RUN) node test/dns/debian.ts >/dev/null
	$(RUN) $(if $(PICTURES),PICTURES=$(PICTURES)) node --test --test-concurrency=1 --test-timeout=600000 test/monitoring/*-run.ts

.PHONY: test-trust-manager
test-trust-manager: node_modules controlplane dist/countersign.mjs ## Taking over from the real trust-manager, built once from its Go module: no version of a ConfigMap lacks its anchors
	$(RUN) node test/trust-manager/build.ts >/dev/null
	$(RUN) node --test --test-timeout=900000 test/trust-manager/run.ts

.PHONY: test-console
test-console: node_modules controlplane dist/countersign.mjs ## The console in a real browser with a real API server: axe, its policy, other origins, missing rights; PICTURES=DIRECTORY
	$(RUN) $(if $(PICTURES),PICTURES=$(PICTURES)) node --test --test-timeout=300000 test/console/browser-run.ts

.PHONY: test-spiffe
test-spiffe: node_modules ## SPIFFE bundles and bundle endpoints in the hands of go-spiffe
	$(RUN) node test/trust/spiffe/build.ts >/dev/null
	$(RUN) node --test --test-timeout=300000 test/trust/spiffe/judges-run.ts

.PHONY: test-step-ca
test-step-ca: node_modules controlplane dist/library/index.mjs dist/countersign.mjs ## examples/step-ca.ts with a real step-ca server, built once from its Go module
	$(RUN) node test/stepca/build.ts >/dev/null
	$(RUN) node --test --test-timeout=300000 test/stepca/run.ts

.PHONY: test-fleet
test-fleet: node_modules controlplane dist/countersign.mjs ## a hub and a member, two control planes: join, a CA from the hub, a stolen credential, leave
	$(RUN) node --test --test-timeout=900000 test/fleet/run.ts

.PHONY: test-keys
test-keys: node_modules controlplane dist/countersign.mjs ## A key holder with keys in SoftHSM2 (Debian), whose token, module and PIN fail; then pods on a cluster meanwhile
	COUNTERSIGN_PROGRAM=$(CURDIR)/dist/countersign.mjs $(RUN) node --test --test-timeout=300000 'test/keys/*-run.ts'

.PHONY: test-vault
test-vault: node_modules controlplane dist/countersign.mjs ## A real Vault, built once from its Go module, signs a managed CA and issues for pods: sealed, restarted, refused, throttled; leaves by Go and OpenSSL
	$(RUN) node test/vault/build.ts >/dev/null
	$(RUN) node test/oracle/build.ts >/dev/null
	$(RUN) node --test --test-timeout=300000 test/vault/run.ts
	$(RUN) node --test --test-timeout=400000 test/vault/external.ts

.PHONY: test-acme
test-acme: node_modules controlplane dist/countersign.mjs ## ACME with Pebble, step-ca and cert-manager's Certificates; Orders behind a proxy that fails; DNS with BIND, Knot and a provider of cert-manager
	$(RUN) node test/acme/build.ts >/dev/null
	$(RUN) node test/stepca/build.ts >/dev/null
	$(RUN) node test/certmanager/build.ts >/dev/null
	$(RUN) node test/dns/debian.ts >/dev/null
	$(RUN) node test/acme/solving/provider.ts >/dev/null
	$(RUN) node --test --test-timeout=300000 test/acme/*-run.ts test/acme/solving/*-run.ts

.PHONY: test-acme-killed
test-acme-killed: node_modules controlplane dist/countersign.mjs ## acme on a real API server, killed at each boundary between two calls or writes, and one of two replicas killed; some minutes
	$(RUN) node --test --test-concurrency=1 --test-timeout=900000 test/acme/killed-matrix.ts test/acme/lives/failover-run.ts

.PHONY: test-examples
test-examples: node_modules controlplane dist/countersign.mjs ## examples/ as shipped, with nginx, HAProxy, PostgreSQL, Prometheus, curl and Go in pods that run; takes root. Envoy's by its definitions, Istio's with Istio's code
	$(RUN) node test/cluster/real-pods/build.ts >/dev/null
	$(RUN) node test/examples/envoy/build.ts >/dev/null
	$(RUN) node test/examples/istio/build.ts >/dev/null
	$(RUN) node --test --test-concurrency=1 --test-timeout=900000 test/examples/run.ts test/examples/*-run.ts

.PHONY: test-ledger
test-ledger: node_modules ## The ledger: its log judged by Go, its store on PostgreSQL, and after crashes
	$(RUN) node test/ledger/build.ts >/dev/null
	$(RUN) node --test --test-timeout=300000 test/ledger/*-run.ts

.PHONY: test-ledger-million
test-ledger-million: node_modules ## The schema of a ledger of a million records down and up again, in SQLite and PostgreSQL
	LEDGER_RECORDS=1000000 $(RUN) node --test --test-timeout=7200000 test/ledger/migrations-run.ts

.PHONY: test-revocation
test-revocation: node_modules controlplane dist/countersign.mjs ## Certificates of all three kinds revoked through the ledger, and refused by OpenSSL, Go and nginx
	$(RUN) node test/ca/revocation/judges.ts >/dev/null
	$(RUN) node --test --test-timeout=900000 test/ca/revocation/*-run.ts

.PHONY: test-real-pods
test-real-pods: node_modules controlplane dist/countersign.mjs ## What is shipped in pods that really run: rollouts under load, drains, kills, and what `make cluster` prints; takes root
	$(RUN) node test/cluster/real-pods/build.ts >/dev/null
	$(RUN) node test/acme/build.ts >/dev/null
	$(RUN) node test/helm/tools/build.ts helm >/dev/null
	$(RUN) node --test --test-concurrency=1 --test-timeout=600000 $(filter-out %/operator.test.ts,$(wildcard test/real-pods/*.test.ts))

.PHONY: test-real-pods-operator
test-real-pods-operator: node_modules controlplane dist/countersign.mjs ## The operator and pod-refresher in pods that really run: upgrades under load, restarts, evictions; takes root
	$(RUN) node test/cluster/real-pods/build.ts >/dev/null
	$(RUN) node --test --test-timeout=600000 test/real-pods/operator.test.ts

.PHONY: test-real-pods-credentials
test-real-pods-credentials: node_modules controlplane dist/countersign.mjs ## refresh: restart of podCertificate volumes in pods that really run: eight minutes; takes root
	$(RUN) node test/cluster/real-pods/build.ts >/dev/null
	$(RUN) node --test --test-timeout=1200000 test/real-pods/credentials-run.ts

.PHONY: test-operator
test-operator: node_modules controlplane dist/countersign.mjs ## The operator on a real API server: installed, drifted, refused, deleted, adopted; SEED=7
	$(COMPILED) $(RUN) node --test --test-timeout=300000 test/operator/life.test.ts test/operator/spec.test.ts test/operator/taken-over.test.ts

.PHONY: test-operator-long
test-operator-long: node_modules controlplane dist/countersign.mjs ## The same with every object in turn, and killed again and again
	OPERATOR=long $(COMPILED) $(RUN) node --test --test-timeout=600000 --test-concurrency=2 'test/operator/*.test.ts'

.PHONY: test-operator-advice
test-operator-advice: node_modules controlplane dist/countersign.mjs ## Faults of an installation by the operator: each is named, and what is printed heals it
	$(RUN) node --test --test-timeout=600000 test/operator/advice.test.ts

.PHONY: test-cert-manager-operator
test-cert-manager-operator: node_modules controlplane dist/countersign.mjs ## The operator of cert-manager with the real 1.20 and 1.21 in pods that run; takes root
	$(RUN) node test/helm/tools/build.ts >/dev/null
	$(RUN) node test/certmanager/build.ts >/dev/null
	$(RUN) node test/cluster/real-pods/build.ts >/dev/null
	$(COMPILED) $(RUN) node --test --test-concurrency=1 --test-timeout=300000 'test/cert-manager-operator/*.test.ts'

.PHONY: cert-manager-releases
cert-manager-releases: node_modules ## The rows of cert-manager's releases from their Go modules, for its operator
	$(RUN) node build/cert-manager/releases.ts $$($(RUN) node test/helm/tools/build.ts | head -n 1)

.PHONY: test-refresher
test-refresher: node_modules controlplane dist/countersign.mjs ## pod-refresher: 5,000 workloads on a simulated clock, 300 on a cluster
	REFRESH=long $(RUN) node --test --test-concurrency=2 test/workloads/refresh/simulation.test.ts
	REFRESH=long $(RUN) node --test --test-timeout=1800000 test/integration/pod-refresher.test.ts

.PHONY: test-rotation-cluster
test-rotation-cluster: node_modules controlplane dist/countersign.mjs ## CAs replaced on a real cluster under load, components killed on the way
	$(RUN) node test/oracle/build.ts >/dev/null
	$(COMPILED) $(RUN) node test/integration/run.ts --version 1.37 --only rotation.test

.PHONY: test-trust-rotation
test-trust-rotation: node_modules controlplane dist/countersign.mjs ## CAs replaced under load with every kind of trust target, one broken indefinitely: each leaf by a handshake with each target; four minutes
	$(RUN) node --test --test-timeout=900000 test/trust-rotation/run.ts

.PHONY: test-rotation
test-rotation: node_modules ## Ten years of CA rotations in twenty worlds, on a simulated clock
	ROTATION=long $(RUN) node --test --test-concurrency=2 'test/ca/rotation/simulation/*.test.ts'

.PHONY: cluster
cluster: node_modules dist/countersign.mjs ## A real control plane until Ctrl-C; KUBERNETES=1.36 for v1beta1, ARGS=--real-pods for pods that run, ARGS="--real-pods --acme" for an ACME server as well
	$(RUN) node test/cluster/build.ts $(KUBERNETES)
	$(RUN) node test/cluster/main.ts --version $(KUBERNETES) $(ARGS)

.PHONY: controlplane
controlplane: node_modules
	$(RUN) node test/cluster/build.ts 1.37

.PHONY: bench
bench: node_modules controlplane dist/countersign.mjs ## Figures as ratios in one run, into bench/results/
	$(RUN) node bench/drain/main.ts $(ARGS)

.PHONY: bench-all
bench-all: node_modules controlplane dist/countersign.mjs dist/library/index.mjs ## Every bench on one cluster, an hour or two; then make performance
	failed=0; $(RUN) node bench/all/main.ts $(ARGS) || failed=$$?; $(RUN) node bench/report/main.ts || failed=$$?; $(RUN) node bench/scaling/main.ts || failed=$$?; exit $$failed

.PHONY: bench-short
bench-short: node_modules controlplane dist/countersign.mjs dist/library/index.mjs ## Every bench on one cluster, small, in an hour; then make performance
	failed=0; $(RUN) node bench/all/main.ts --short $(ARGS) || failed=$$?; $(RUN) node bench/report/main.ts || failed=$$?; $(RUN) node bench/scaling/main.ts || failed=$$?; exit $$failed

.PHONY: bench-smoke
bench-smoke: node_modules controlplane dist/countersign.mjs dist/library/index.mjs ## Whether every bench works, with the least sizes; keeps no figures
	$(RUN) node bench/all/main.ts --smoke $(ARGS)

.PHONY: bench-counters
bench-counters: node_modules controlplane dist/countersign.mjs ## What a certificate takes of processor, threads and kernel, in a drain and warm; and a flame graph
	$(RUN) node bench/counters/main.ts $(ARGS)

.PHONY: bench-csr
bench-csr: node_modules controlplane dist/countersign.mjs ## Create, approve, sign CSRs: ours and kube-controller-manager's
	$(RUN) node bench/csr/main.ts $(ARGS)

.PHONY: bench-pinned
bench-pinned: node_modules controlplane dist/countersign.mjs ## Drains, a ledger and CSRs with the contender on one core, the API server and etcd on another
	$(RUN) node bench/pinned/main.ts $(ARGS)

.PHONY: bench-latency
bench-latency: node_modules controlplane dist/countersign.mjs ## From creation to certificate under an open loop, and after a pause
	$(RUN) node bench/latency/main.ts $(ARGS)

.PHONY: bench-memory
bench-memory: node_modules controlplane dist/countersign.mjs ## Memory of finished requests, its drift, and others' requests
	$(RUN) node bench/memory/main.ts $(ARGS)

.PHONY: bench-idle
bench-idle: node_modules controlplane dist/countersign.mjs ## Memory of each component on an idle installation; ARGS='--bundles old.mjs,dist/countersign.mjs --rounds 3'
	$(RUN) node bench/idle/main.ts $(ARGS)

.PHONY: bench-start
bench-start: node_modules controlplane dist/countersign.mjs ## From the start to the first certificate beside 50,000 finished requests
	$(RUN) node bench/start/main.ts $(ARGS)

.PHONY: bench-ledger
bench-ledger: node_modules controlplane dist/countersign.mjs ## What recording costs a signer, over SQLite and PostgreSQL, and a ledger of a million records
	$(RUN) node bench/ledger/main.ts $(ARGS)

.PHONY: bench-replicas
bench-replicas: node_modules controlplane dist/countersign.mjs ## Two replicas against one, and how long a killed one's share waits
	$(RUN) node bench/replicas/main.ts $(ARGS)

.PHONY: bench-fairness
bench-fairness: node_modules controlplane dist/countersign.mjs ## A quiet tenant beside one that writes as fast as it can; ARGS='--seconds 60 --rounds 3'
	$(RUN) node bench/fairness/main.ts $(ARGS)

.PHONY: bench-flow-control
bench-flow-control: node_modules controlplane dist/countersign.mjs ## Our answers beside a controller that takes the API server's seats, with and without deploy/flow-control
	$(RUN) node bench/flow-control/main.ts $(ARGS)

.PHONY: bench-library
bench-library: node_modules controlplane dist/countersign.mjs dist/library/index.mjs ## A program on the library beside our own pcr-issuer, with one CA
	$(RUN) node bench/library/main.ts $(ARGS)

.PHONY: bench-issue
bench-issue: node_modules ## Leaves a second and core against pkijs, Go and a bare signature; needs no cluster
	$(RUN) node bench/issue/main.ts $(ARGS)

.PHONY: bench-acme
bench-acme: node_modules controlplane dist/countersign.mjs ## CertificateRequests over ACME and DNS-01: ours and cert-manager's, with one Pebble
	$(RUN) node test/certmanager/build.ts >/dev/null
	$(RUN) node test/acme/build.ts >/dev/null
	$(RUN) node test/dns/debian.ts >/dev/null
	$(RUN) node bench/acme/main.ts $(ARGS)

.PHONY: bench-injection
bench-injection: node_modules controlplane dist/countersign.mjs ## CPU time of the API server a pod, with and without the policies of injection; ARGS='--pods 1000 --rounds 5'
	$(RUN) node bench/injection/main.ts $(ARGS)

.PHONY: bench-check
bench-check: node_modules controlplane dist/countersign.mjs ## How long `countersign check` takes with 1,000 signers and 150,000 pods; ARGS='--signers 100 --pods 1000'
	$(RUN) node bench/check/main.ts $(ARGS)

.PHONY: bench-console
bench-console: node_modules dist/countersign.mjs ## Pages of the console in Chromium with 1,000 signers and 150,000 pods; ARGS='--signers 100 --pods 1000 --minutes 0'
	$(RUN) node bench/console/main.ts $(ARGS)

.PHONY: bench-services
bench-services: node_modules controlplane dist/countersign.mjs ## Certificates a second with names of Services beside those without, and memory; ARGS='--services 1000 --pods 10000 --rounds 3'
	$(RUN) node bench/services/main.ts $(ARGS)

.PHONY: bench-path
bench-path: node_modules dist/countersign.mjs ## CPU time a certificate from frame to answer, builds in turns; ARGS='--bundles old.mjs,dist/countersign.mjs'
	$(RUN) node bench/path/main.ts $(ARGS)

.PHONY: bench-key-holder
bench-key-holder: node_modules dist/countersign.mjs ## What a signature costs by a key holder, beside node:crypto; ARGS='--signatures 5000 --at-once 24', ARGS=--pkcs11 for a key in SoftHSM2
	COUNTERSIGN_PROGRAM=$(CURDIR)/dist/countersign.mjs $(RUN) node bench/key-holder/main.ts $(ARGS)

.PHONY: performance
performance: node_modules scaling ## docs/reference/performance.md from bench/results and bench/notes, and what scaling writes
	$(RUN) node bench/report/main.ts

.PHONY: timeline
timeline: node_modules ## docs/explanation/rotation.svg from a simulated run
	$(RUN) node test/ca/rotation/timeline/main.ts

.PHONY: conformance
conformance: node_modules controlplane dist/countersign.mjs ## docs/reference/conformance.md: three signers held to the conformance kit
	$(RUN) node test/conformance/write-page.ts

.PHONY: verifiers
verifiers: node_modules dist/countersign.mjs ## The table of docs/reference/verifiers.md: Go, OpenSSL, Node and GnuTLS on chains of a ceremony
	$(RUN) node test/oracle/verifiers/page.ts

.PHONY: scaling
scaling: node_modules ## The tables of docs/explanation/scaling.md again, by simulation; needs no cluster
	$(RUN) node bench/scaling/main.ts

.PHONY: image
image: node_modules ## The container image, built with buildah; ARGS='--twice --archive image.tar'
	$(RUN) node test/image/build.ts $(ARGS)

.PHONY: deploy
deploy: node_modules ## Write rbac/ and deploy/ again from src/install, for the demo's names
	$(RUN) node build/deploy.ts

.PHONY: chart
chart: node_modules ## Write deploy/chart and its reference page again from src/install
	$(RUN) node build/chart.ts

.PHONY: crds
crds: node_modules ## Write the CRDs of Signer and of acme.countersign.dev again
	$(RUN) node build/crds.ts

.PHONY: metrics-docs
metrics-docs: node_modules ## docs/reference/metrics.md from the series of each component
	$(RUN) node build/metrics-docs.ts

.PHONY: verified-docs
verified-docs: node_modules ## docs/reference/verified.md with a row for each suite of make verify, and the results that it has
	$(RUN) node test/verify/write-page.ts

.PHONY: house-picture
house-picture: node_modules ## docs/pictures/house-light.svg and house-dark.svg, which CONTRIBUTING.md shows, from the imports of src
	$(RUN) node test/architecture/house-picture/main.ts

.PHONY: ledger-docs
ledger-docs: node_modules ## docs/reference/ledger-commands.md from the verbs of countersign ledger
	$(RUN) node build/ledger-docs.ts

.PHONY: library-docs
library-docs: node_modules ## docs/reference/library-api.md from the docstrings of the library
	$(RUN) node build/library-docs.ts

.PHONY: clean
clean: ## Remove what was built here
	rm -rf dist .cache node_modules

# By the lock alone: other changes of package.json install nothing. What is there and right stays there: a
# cluster that runs on its Node is not ended by a new dependency.
node_modules: package-lock.json
	if [ -d node_modules ]; then npm install --no-save --no-audit --no-fund --loglevel=error; else npm ci --no-audit --no-fund --loglevel=error; fi
	touch node_modules

dist/library/index.mjs: node_modules build/library.ts tsconfig.library.json $(shell find src -name '*.ts')
	$(RUN) node build/library.ts

dist/countersign.mjs: node_modules build/bundle.ts build/bundle-program.ts build/layers.ts $(wildcard build/narrow/*) package.json tsconfig.json $(shell find src -name '*.ts')
	$(RUN) node build/bundle.ts
