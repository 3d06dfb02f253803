// SPDX-License-Identifier: Apache-2.0
/**
 * acme on the real API server, with Pebble: killed between any two of its calls and writes, every
 * Order ends Issued.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { readOrder, type Order } from '#api/acme/order.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { until } from '../cluster/until.ts';
import { applyAcmeKinds } from '../support/acme/installation.ts';
import { accountSecret, acmeClusterSigner, getAcmeSigner } from '../support/acme/signer.ts';
import { apply } from '../support/cluster/apply.ts';
import { startFaultProxy, type FaultProxy, type ProxyFault } from './fault-proxy.ts';
import type { TxtRecords } from './lived-order.ts';
import { createOrder } from './lives/create-order.ts';
import { startLife, type Life, type OnWrite } from './lives/life.ts';
import { solveByDns } from './lives/solver.ts';
import { startPebble, type Pebble } from './pebble.ts';

/** A machine that has more to do takes its time. */
const SOON = 120_000;

let cluster: Cluster;
let pebble: Pebble;
let proxy: FaultProxy;
let client: Client;
let records: TxtRecords;
const directory = makeDirectory();
const stopped = new AbortController();
/** What the proxy does with the next call. */
let onCall: (path: string, userAgent: string) => ProxyFault | undefined = () => undefined;
let calls: string[] = [];
/** Calls that the server did not refuse, by the user agents of the lives that made them. */
let done: { readonly path: string; readonly userAgent: string }[] = [];

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  // A good nonce of five is refused.
  const env = { PEBBLE_WFE_NONCEREJECT: '20' };
  pebble = await startPebble(directory, { env, settings: { retryAfter: 1 } });
  proxy = await startFaultProxy(
    pebble,
    (path, userAgent) => {
      calls.push(nameOf(path));
      return onCall(path, userAgent);
    },
    (path, userAgent, status) => {
      if (status < 300) done.push({ path: nameOf(path), userAgent });
    },
  );
  await applyAcmeKinds(cluster);
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  client = createClient({
    connection,
    userAgent: 'test',
    clock: Date.now,
    monotonic: () => performance.now(),
  });
  records = solveByDns(client, pebble, stopped.signal);
  const solvers = [{ name: 'dns', rfc2136: { server: '127.0.0.1:9' } }];
  const signer = acmeClusterSigner({ server: proxy, solvers });
  await apply(cluster, await accountSecret(), signer);
});

after(async () => {
  stopped.abort();
  await proxy.stop();
  await pebble.stop();
  await client.close();
  await cluster.stop();
  removeDirectory(directory);
});

/** The first segment of a path: which of Pebble's endpoints it is. */
function nameOf(called: string): string {
  return called.split('/')[1] ?? '';
}

let made = 0;

async function newOrder(names: readonly string[]): Promise<string> {
  made += 1;
  const name = `order-${made}`;
  await createOrder(cluster, directory, { name, names });
  return name;
}

const path = '/apis/acme.countersign.dev/v1alpha1/namespaces/default';

async function get(name: string): Promise<Order> {
  return readOrder(await client.request({ method: 'GET', path: `${path}/orders/${name}` }));
}

async function challengesLeft(): Promise<number> {
  const { items } = await client.request<{ readonly items: readonly unknown[] }>({
    method: 'GET',
    path: `${path}/challenges`,
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
  const { status } = await getAcmeSigner(cluster);
  assert.partialDeepStrictEqual(status.conditions, [{ type: 'Ready', status: 'True' }]);
  console.log(`${calls.length} calls and ${writes.length} writes`);
});

test('an Order of a hundred names is issued, by a clock that runs as it should', async (t) => {
  const writes: string[] = [];
  const onWrite: OnWrite = (moment, what) => {
    if (moment === 'written') writes.push(what);
  };
  const life = startLife(client, onWrite, 1);
  t.after(() => {
    end(life);
  });
  calls = [];
  const names = Array.from({ length: 100 }, (_, index) => `n${index}.hundred.example`);
  const begun = Date.now();
  const certificate = await issued(await newOrder(names), 4 * SOON);
  console.log(
    `a hundred names: ${Date.now() - begun} ms, ${calls.length} calls and ${writes.length} writes`,
  );
  assert.equal(certificate.subjectAltName?.split(', ').length, 100);
});

/** What came of an Order whose first life was killed at a boundary. */
interface Killed {
  /** Which boundary it was; empty: there are fewer. */
  readonly at: string;
  /** Calls that the server did not refuse. */
  readonly newOrders: number;
  readonly finalized: number;
  /** Whether the first life had made an order at the server whose URL it had not written. */
  readonly isAbandoned: boolean;
}

/** Lives one Order, killed at a boundary; another life brings it to its end. */
async function killedAt(boundary: number): Promise<Killed> {
  done = [];
  const { first, at } = startMortal(boundary);
  const name = await newOrder([`k${boundary}.example`, `*.k${boundary}.example`]);
  let second: Life | undefined;
  let urlAtDeath: string | undefined;
  try {
    await until('it is issued or killed', SOON, async () => {
      if (first.isDead()) return true;
      const { status } = await get(name);
      return status.certificate !== undefined && (await challengesLeft()) === 0;
    });
    if (first.isDead()) {
      urlAtDeath = (await get(name)).status.url;
      second = startLife(client);
    }
    await issued(name);
  } finally {
    onCall = () => undefined;
    end(first);
    if (second !== undefined) end(second);
  }
  const newOrders = done.filter(({ path }) => path === 'order-plz');
  const ordered = newOrders.some(({ userAgent }) => userAgent === first.userAgent);
  return {
    at: at(),
    newOrders: newOrders.length,
    finalized: done.filter(({ path }) => path === 'finalize-order').length,
    isAbandoned: ordered && urlAtDeath === undefined && second !== undefined,
  };
}

/**
 * A life that is killed at a boundary. The dead call nobody: whatever a real process had under way
 * is cut off, too.
 */
function startMortal(boundary: number): { readonly first: Life; readonly at: () => string } {
  let seen = 0;
  let at = '';
  const reached = (what: string, kill: () => void): boolean => {
    seen += 1;
    if (seen !== boundary) return false;
    at = what;
    kill();
    return true;
  };
  const first = startLife(client, (moment, what, kill) => {
    reached(`${moment} ${what}`, kill);
  });
  // A call has two boundaries, too: it did not arrive, or its answer does not.
  onCall = (path, userAgent) => {
    if (userAgent !== first.userAgent) return undefined;
    if (first.isDead() || reached(`call ${nameOf(path)}`, first.kill)) return 'reset';
    return reached(`answer of ${nameOf(path)}`, first.kill) ? 'lost' : undefined;
  };
  return { first, at: () => at };
}

test('killed at each call or write, every Order ends Issued and finalized once', async () => {
  const abandoned: string[] = [];
  let boundary = 1;
  for (;;) {
    const { at, newOrders, finalized, isAbandoned } = await killedAt(boundary);
    const where = `${boundary} ${at}`;
    assert.equal(newOrders, isAbandoned ? 2 : 1, `newOrders after ${where}`);
    assert.equal(finalized, 1, `finalized after ${where}`);
    if (isAbandoned) abandoned.push(where);
    if (at === '') break;
    boundary += 1;
  }
  console.log(`${boundary - 1} boundaries; one order too many after: ${abandoned.join('; ')}`);
  assert.ok(boundary > 20, `only ${boundary} boundaries`);
  // The answer is lost, or the write of the URL is not begun; a new process finds every other
  // order.
  for (const where of abandoned)
    assert.match(where, /^\d+ (?:answer of order-plz|write PUT .*\/orders\/[^/]+\/status)$/);
});
