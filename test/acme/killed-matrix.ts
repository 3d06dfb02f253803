// SPDX-License-Identifier: Apache-2.0
/** acme on the real API server, with Pebble: killed between any two of its calls and writes, every Order ends Issued. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Order } from '../../src/api/acme/index.ts';
import { createClient, type Client } from '../../src/kube/client/client.ts';
import { loadConnection } from '../../src/kube/client/kubeconfig.ts';
import { generatePrivateKey } from '../../src/pki/keys/private-key.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { startFaultProxy, type FaultProxy, type ProxyFault } from './fault-proxy.ts';
import type { TxtRecords } from './lived-order.ts';
import { startLife, type Life, type OnWrite } from './lives/life.ts';
import { solveByDns } from './lives/solver.ts';
import { requestFor } from './order-journey.ts';
import { startPebble, type Pebble } from './pebble.ts';

const root = join(import.meta.dirname, '../..');
const signerName = 'example.com/public';
const SOON = 60_000;

let cluster: Cluster;
let pebble: Pebble;
let proxy: FaultProxy;
let client: Client;
let records: TxtRecords;
const directory = makeDirectory();
const stopped = new AbortController();
/** What the proxy does with the next call. */
let onCall: (path: string) => ProxyFault | undefined = () => undefined;
let calls: string[] = [];

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  // A good nonce of five is refused.
  const env = { PEBBLE_WFE_NONCEREJECT: '20' };
  pebble = await startPebble(directory, { env, settings: { retryAfter: 1 } });
  proxy = await startFaultProxy(pebble, (path) => {
    calls.push(path.split('/')[1] ?? '');
    return onCall(path);
  });
  const files = ['deploy/crds/clustersigners.yaml', 'deploy/crds/acme'].map((each) =>
    join(root, each),
  );
  const named = files.flatMap((file) => ['-f', file]);
  await cluster.kubectl(['apply', '-f', join(root, 'deploy/namespaces.yaml')]);
  await cluster.kubectl(['apply', '--server-side', ...named]);
  await established(cluster, ...named);
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  client = createClient({
    ...{ connection, userAgent: 'test', clock: Date.now, monotonic: () => performance.now() },
  });
  records = solveByDns(client, pebble, stopped.signal);
  const { pem } = await generatePrivateKey('ECDSAP256');
  await apply(cluster, {
    ...{ apiVersion: 'v1', kind: 'Secret' },
    metadata: {
      ...{ name: 'account', namespace: 'countersign-keys' },
      annotations: { 'countersign.dev/signer-name': signerName },
    },
    stringData: { 'tls.key': pem },
  });
  await apply(cluster, {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'AcmeClusterSigner',
    metadata: { name: 'public' },
    spec: {
      signerName,
      acme: {
        ...{ server: proxy.directory, caBundle: proxy.ca, termsOfServiceAgreed: true },
        accountKey: { secret: { name: 'account' } },
        solvers: [{ name: 'dns', rfc2136: { server: '127.0.0.1:9' } }],
      },
    },
  });
});

after(async () => {
  stopped.abort();
  await proxy.stop();
  await pebble.stop();
  await client.close();
  await cluster.stop();
  removeDirectory(directory);
});

let made = 0;

async function newOrder(names: readonly string[]): Promise<string> {
  made += 1;
  const name = `order-${made}`;
  const identifiers = names.map((value) => ({ type: 'dns' as const, value }));
  const { der } = requestFor(directory, { identifiers });
  await apply(cluster, {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Order',
    metadata: { name, namespace: 'default' },
    spec: {
      signerRef: { kind: 'AcmeClusterSigner', name: 'public' },
      requestRef: { kind: 'CertificateRequest', name, uid: name },
      ...{ request: Buffer.from(der).toString('base64'), identifiers, attempt: 1 },
    },
  });
  return name;
}

const path = '/apis/acme.countersign.dev/v1alpha1/namespaces/default';

function get(name: string): Promise<Order> {
  return client.request<Order>({ method: 'GET', path: `${path}/orders/${name}` });
}

async function challengesLeft(): Promise<number> {
  const { items } = await client.request<{ readonly items: readonly unknown[] }>({
    ...{ method: 'GET', path: `${path}/challenges` },
  });
  return items.length;
}

/** The Order has its certificate, and nothing of it is left. */
async function issued(name: string, withinMs = SOON): Promise<X509Certificate> {
  let last: Order['status'] | undefined;
  const pem = await until(`${name} is issued`, withinMs, async () => {
    last = (await get(name)).status;
    return last.certificate;
  }).catch((error: unknown) => {
    throw new Error(`${name}: ${JSON.stringify(last)}`, { cause: error });
  });
  await until('its Challenges are gone', SOON, async () => (await challengesLeft()) === 0);
  assert.deepEqual(records.left, []);
  return new X509Certificate(pem);
}

/** What a killed life still waits for never comes. */
function end(life: Life): void {
  life.kill();
}

test('an Order of a wildcard, its base and another name is issued, and leaves nothing', async (t) => {
  const names = ['*.calm.example', 'calm.example', 'other.example'];
  const writes: string[] = [];
  const life = startLife(client, (moment, what) => {
    if (moment === 'written') writes.push(what);
  });
  t.after(() => {
    end(life);
  });
  calls = [];
  const certificate = await issued(await newOrder(names));
  assert.deepEqual(
    new Set(certificate.subjectAltName?.split(', ')),
    new Set(names.map((each) => `DNS:${each}`)),
  );
  const signer = await cluster.kubectl(['get', 'acmeclustersigner/public', '-o', 'json']);
  const { status } = JSON.parse(signer.stdout) as { status: { conditions: readonly object[] } };
  assert.partialDeepStrictEqual(status.conditions, [{ type: 'Ready', status: 'True' }]);
  console.log(`${calls.length} calls and ${writes.length} writes`);
});

test('an Order of a hundred names is issued', async (t) => {
  const life = startLife(client);
  t.after(() => {
    end(life);
  });
  const names = Array.from({ length: 100 }, (_, index) => `n${index}.hundred.example`);
  const begun = Date.now();
  const certificate = await issued(await newOrder(names), 4 * SOON);
  console.log(`a hundred names: ${Date.now() - begun} ms`);
  assert.equal(certificate.subjectAltName?.split(', ').length, 100);
});

/** Lives one Order, killed at a boundary; another life brings it to its end. @returns how many boundaries there were */
async function killedAt(boundary: number): Promise<{ readonly seen: number; readonly at: string }> {
  let seen = 0;
  let at = '';
  const reached = (what: string, kill: () => void): boolean => {
    seen += 1;
    if (seen !== boundary) return false;
    at = what;
    kill();
    return true;
  };
  const onWrite: OnWrite = (moment, what, kill) => {
    reached(`${moment} ${what}`, kill);
  };
  const first = startLife(client, onWrite);
  // A call has two boundaries, too: it did not arrive, or its answer does not.
  onCall = (called) => {
    if (first.isDead()) return undefined;
    if (reached(`call ${called.split('/')[1] ?? ''}`, first.kill)) return 'reset';
    return reached(`answer of ${called.split('/')[1] ?? ''}`, first.kill) ? 'lost' : undefined;
  };
  const name = await newOrder([`k${boundary}.example`, `*.k${boundary}.example`]);
  let second: Life | undefined;
  try {
    await until('it is issued or killed', SOON, async () => {
      if (first.isDead()) return true;
      const { status } = await get(name);
      return status.certificate !== undefined && (await challengesLeft()) === 0;
    });
    onCall = () => undefined;
    if (first.isDead()) second = startLife(client);
    await issued(name);
  } finally {
    onCall = () => undefined;
    end(first);
    if (second !== undefined) end(second);
  }
  return { seen, at };
}

test('killed at each boundary between two calls or writes, every Order ends Issued, with one order too many at most', async () => {
  const ordered = new Map<string, number>();
  let boundary = 1;
  for (;;) {
    calls = [];
    const { at } = await killedAt(boundary);
    if (at === '') break;
    const orders = calls.filter((each) => each === 'order-plz').length;
    ordered.set(`${boundary} ${at}`, orders);
    boundary += 1;
  }
  console.log([...ordered].map(([where, orders]) => `${where}: ${orders} newOrder`).join('\n'));
  assert.ok(boundary > 20, `only ${boundary} boundaries`);
});
