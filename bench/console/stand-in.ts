// SPDX-License-Identifier: Apache-2.0
/**
 * A stand-in for the API server of a large cluster, over plain HTTP: it makes pages of lists from
 * templates. It knows no users and no permissions, and answers every other list with none.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { encodePem } from '#pki/der/pem.ts';
import { LINKS, state } from '../../test/operations/signer-states.ts';
import { link } from '../../test/support/pki/chain.ts';

/** The numbers of objects. */
export interface Sizes {
  readonly signers: number;
  readonly pods: number;
  readonly requests: number;
}

/** A running stand-in. */
export interface StandIn {
  readonly url: string;
  readonly stop: () => void;
}

const PAGE = 500;
/** Requests that change in a second, as a rollout of hundreds of pods does it. */
const CHANGES_A_SECOND = 20;
const CHAIN = encodePem('CERTIFICATE', link('leaf', { by: LINKS.b }).certificate.raw);
const CERTIFICATES = '/apis/certificates.k8s.io/v1';
const PODS_A_WORKLOAD = 10;

const signerName = (index: number): string => `example.com/bench-${index}`;
const born = (): string => new Date(Date.now() - 600_000).toISOString();

function meta(name: string, namespace?: string): object {
  const common = { name, uid: name, resourceVersion: '1', creationTimestamp: born() };
  return namespace === undefined ? common : { ...common, namespace };
}

function signer(index: number): object {
  const { signer: one } = state({ authorities: { a: 'Retiring', b: 'Active' } });
  const spec = { ...one.spec, signerName: signerName(index) };
  return { ...one, spec, metadata: { ...meta(`bench-${index}`), generation: 1 } };
}

function bundle(index: number): object {
  const { bundle: one } = state({ served: { a: 600, b: 60 } });
  if (typeof one !== 'object') throw new TypeError('no bundle');
  const name = bundleName(signerName(index), 'primary');
  const metadata = { ...one.metadata, ...meta(name) };
  return { ...one, metadata, spec: { ...one.spec, signerName: signerName(index) } };
}

/** As large as pods are: two thousand characters are of fields that no page reads. */
function pod(index: number, signers: number): object {
  const workload = `web-${Math.floor(index / PODS_A_WORKLOAD)}`;
  const namespace = `team-${index % 100}`;
  const name = signerName(index % signers);
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', uid: 'x', controller: true };
  return {
    metadata: {
      ...meta(`${workload}-5f-${index}`, namespace),
      labels: { app: workload, 'pod-template-hash': '5f' },
      ownerReferences: [{ ...owner, name: `${workload}-5f` }],
      managedFields: [{ manager: 'x', fieldsV1: { text: 'f:'.repeat(1_000) } }],
    },
    spec: {
      nodeName: `node-${index % 1_000}`,
      containers: [{ name: 'app', image: 'app' }],
      volumes: [
        {
          name: 'tls',
          projected: {
            sources: [
              { podCertificate: { signerName: name, keyType: 'ECDSAP256' } },
              { clusterTrustBundle: { name: bundleName(name, 'primary'), path: 'ca.pem' } },
            ],
          },
        },
      ],
    },
    status: { phase: 'Running', startTime: born() },
  };
}

function request(index: number, signers: number, version = 1): object {
  const { metadata } = pod(index, signers) as { metadata: { name: string; namespace: string } };
  const name = `r-${index}`;
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: { ...meta(name, metadata.namespace), resourceVersion: `${version}` },
    spec: {
      signerName: signerName(index % signers),
      podName: metadata.name,
      podUID: metadata.name,
    },
    status: {
      certificateChain: CHAIN,
      conditions: [{ type: 'Issued', status: 'True', reason: 'Issued', message: `${version}` }],
    },
  };
}

/** Starts a stand-in on loopback. */
export async function startStandIn(sizes: Sizes): Promise<StandIn> {
  const { signers, pods, requests } = sizes;
  const lists: Readonly<Record<string, readonly [number, (index: number) => object]>> = {
    '/apis/countersign.dev/v1alpha1/clustersigners': [signers, signer],
    [`${CERTIFICATES}/clustertrustbundles`]: [signers, bundle],
    '/api/v1/pods': [pods, (index) => pod(index, signers)],
    [`${CERTIFICATES}/podcertificaterequests`]: [requests, (index) => request(index, signers)],
  };
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://x');
    const found = lists[pathname];
    if (searchParams.get('watch') === 'true') {
      watch(response, found, pathname.endsWith('/podcertificaterequests') ? sizes : undefined);
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answerOf(pathname, found, searchParams.get('continue'))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new TypeError('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Listed = readonly [count: number, make: (index: number) => object] | undefined;

function answerOf(path: string, found: Listed, token: string | null): object {
  if (path === '/version') return { major: '1', minor: '37', gitVersion: 'v1.37.1' };
  if (path === CERTIFICATES) {
    const names = ['clustertrustbundles', 'podcertificaterequests', 'certificatesigningrequests'];
    return { resources: names.map((name) => ({ name })) };
  }
  const list = { apiVersion: 'v1', kind: 'List', resources: [] };
  const [count, make] = found ?? [0, () => ({})];
  const from = Number(token ?? 0);
  const until = Math.min(from + PAGE, count);
  const items = Array.from({ length: until - from }, (_, index) => make(from + index));
  const rest = until < count ? { continue: `${until}`, remainingItemCount: count - until } : {};
  return { ...list, metadata: { resourceVersion: '1', ...rest }, items };
}

/** Sends all objects, a bookmark, and then changes of requests until the reader leaves. */
function watch(response: ServerResponse, found: Listed, changing: Sizes | undefined): void {
  response.setHeader('content-type', 'application/json');
  const send = (type: string, object: object): void => {
    response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const [count, make] = found ?? [0, () => ({})];
  for (let index = 0; index < count; index += 1) send('ADDED', make(index));
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  send('BOOKMARK', { metadata: { resourceVersion: '1', annotations } });
  if (changing === undefined || changing.requests === 0) return;
  let version = 1;
  const timer = setInterval(() => {
    version += 1;
    const index = version % changing.requests;
    send('MODIFIED', request(index, changing.signers, version));
  }, 1_000 / CHANGES_A_SECOND);
  response.on('close', () => {
    clearInterval(timer);
  });
}
