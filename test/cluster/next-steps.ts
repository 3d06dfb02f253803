// SPDX-License-Identifier: Apache-2.0
/**
 * What `make cluster` prints: a script for bash. A person pastes it whole or in parts, and a test
 * runs it.
 */
import { join } from 'node:path';
import type { AcmeServer } from './acme-server.ts';
import type { ClusterImages } from './real-pods/images.ts';
import { stateFileOf } from './state.ts';
import { STORAGE_CLASS } from './storage.ts';
import type { Cluster } from './types.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The line that the part about ACME begins with. */
export const ACME_PART = '# A certificate of an ACME server';

/** How the cluster is reached. */
export function access(cluster: Cluster): string {
  return `# Kubernetes ${cluster.version} at ${cluster.server}; Ctrl-C ends it
export KUBECONFIG=${cluster.kubeconfig}
export COUNTERSIGN_TEST_CLUSTER=${stateFileOf(cluster.directory)}
alias kubectl=${cluster.directory}/kubectl
`;
}

/** What there is on a cluster whose pods run. */
export function ofRealPods(cluster: Cluster, { images, missing }: ClusterImages): string {
  const { certFile, keyFile } = cluster.clientCa;
  const absent = Object.entries(missing).map(([name, why]) => `#   not ${name}: ${firstLine(why)}`);
  return `
# Pods run. There is no registry, and these are the images:
${[...Object.keys(images).map((name) => `#   ${name}`), ...absent].join('\n')}
# The default StorageClass is ${STORAGE_CLASS}. The aggregation layer is configured.
# The CA of client certificates: ${certFile}
# its key: ${keyFile}
cd ${ROOT}
alias countersign="${process.execPath} ${ROOT}/dist/countersign.mjs"
# Builds helm, the first time in some minutes:
alias helm="$(${process.execPath} ${ROOT}/test/helm/tools/build.ts helm)"
# Next: install it, as README.md shows.
`;
}

/** How a person who has installed Countersign gets a certificate of the ACME server. */
export function ofAcme(server: AcmeServer | undefined): string {
  if (server === undefined)
    return `${ACME_PART}: start the cluster with ARGS="--real-pods --acme"\n`;
  const { directory, localDirectory, room, signer } = server;
  const { caFile, rootFile, valuesFile } = server;
  return `
${ACME_PART}
# Pebble, which Let's Encrypt makes for tests, is at ${directory} for pods,
# and at ${localDirectory} here. The CA of its HTTPS: ${caFile}
# The root of its certificates, which only this cluster knows: ${rootFile}
# Names below .example and .example.com lead to acme-responder, which proves them by HTTP-01.
# Once Countersign is installed:
helm upgrade countersign deploy/chart --reset-then-reuse-values --values ${valuesFile}
kubectl apply -f - <<'EOF'
${signer}EOF
kubectl wait --for=condition=Ready acmeclustersigner/public --timeout=3m
countersign request --signer example.com/public --name www.example.com --dns www.example.com \\
  --usage 'digital signature' --usage 'key encipherment' --usage 'server auth' --timeout 3m --out ${room}
openssl verify -CAfile ${rootFile} -untrusted ${room}/www.example.com.crt \\
  -verify_hostname www.example.com ${room}/www.example.com.crt
`;
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
