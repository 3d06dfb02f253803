// SPDX-License-Identifier: Apache-2.0
/**
 * `make test-flood-real`: a flood of pending requests on the real API server and etcd, whose CA has
 * been taken back, against the shipped bundle with the heap that its memory limit leaves it. Once
 * the CA is there again all are answered. ARGS: `--requests 20000 --heap 320 --standing 15`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { grant } from '../../../bench/cluster/grant.ts';
import { TOKEN_DURATION, WORKLOAD } from '../../../bench/cluster/ours.ts';
import {
  BUNDLE,
  NAMESPACE,
  startBenchCluster,
  type BenchCluster,
} from '../../../bench/cluster/start.ts';
import { endOnSignals } from '../../../bench/measure/end-on-signals.ts';
import {
  REQUESTS,
  createBacklog,
  newStubs,
  repeated,
  type Backlog,
} from '../../../bench/requests/backlog.ts';
import { verifyIssued } from '../../../bench/requests/verify-issued.ts';
import { POD_ISSUED, watchIssued } from '../../../bench/requests/watch-issued.ts';
import { until } from '../../cluster/until.ts';
import { startComponent, type ComponentProcess } from '../../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import { POD_OLD_SPACE, podFlags } from '../../support/cluster/entrypoint-flags.ts';
import { residentOf } from './resident.ts';

/** Keys, over and over: to make one takes longer than to store its request. */
const STUBS = 1_000;
const PATIENCE_MS = 900_000;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    /** MiB of old space. */
    heap: { type: 'string', default: String(POD_OLD_SPACE) },
    /** Seconds for which nothing can be answered. */
    standing: { type: 'string', default: '15' },
  },
});
const size = Number(values.requests);
if (!Number.isInteger(size) || size < 2) throw new Error('--requests: want a whole number');

const bench = await startBenchCluster((line) => console.log(line));
endOnSignals();
try {
  const issuer = await startIssuer(bench);
  try {
    await flood(bench, issuer);
  } finally {
    await issuer.kill();
  }
} finally {
  await bench.stop();
}

async function startIssuer({ cluster }: BenchCluster): Promise<ComponentProcess> {
  const account = 'countersign-pcr-issuer';
  const options = { duration: TOKEN_DURATION };
  const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM_NAMESPACE, account, options);
  const program = [process.execPath, ...podFlags(values.heap), BUNDLE];
  return startComponent({ name: 'pcr-issuer', kubeconfig, program });
}

async function flood(at: BenchCluster, issuer: ComponentProcess): Promise<void> {
  await grant(at, undefined);
  const began = performance.now();
  const stubs = repeated(newStubs(Math.min(size, STUBS)), size);
  const backlog = await createBacklog(at, WORKLOAD.signerName, stubs);
  say(`${size} requests made`, began);
  await orEnded(issuer, () =>
    until('all are told', PATIENCE_MS, async () => (await pendingOf(issuer)) === size),
  );
  await orEnded(issuer, () => sleep(Number(values.standing) * 1_000));
  tell('while it stands', at, issuer);
  await answer(at, issuer, backlog);
  await verifyIssued(at.client, { name: 'pcr-issuer', command: [''], ...WORKLOAD }, backlog);
  tell('all issued, a sample verified', at, issuer);
}

async function answer(
  at: BenchCluster,
  issuer: ComponentProcess,
  { signerName }: Backlog,
): Promise<void> {
  const { client } = at;
  const path = REQUESTS.collection(NAMESPACE);
  const { metadata } = await client.request<{ metadata: { resourceVersion: string } }>({
    method: 'GET',
    path,
    query: { limit: 1 },
  });
  const end = new AbortController();
  const issued = await watchIssued({
    client,
    path,
    signerName,
    size,
    mark: POD_ISSUED,
    resourceVersion: metadata.resourceVersion,
    signal: end.signal,
  });
  const began = performance.now();
  await grant(at, signerName);
  await orEnded(issuer, () =>
    Promise.race([issued.all, sleep(PATIENCE_MS, 'late', { ref: false })]),
  );
  end.abort();
  if (issued.seen() !== size) throw new Error(`${issued.seen()} of ${size} were answered`);
  say(`${size} answered`, began);
}

/** What it says of itself. */
async function pendingOf(issuer: ComponentProcess): Promise<number> {
  const lines = (await issuer.metrics()).split('\n');
  const line = lines.find((each) => each.startsWith('countersign_request_pending{'));
  return Number(line?.split(' ').at(-1));
}

function tell(when: string, { cluster }: BenchCluster, { pid }: ComponentProcess): void {
  const parts = [
    ['pcr-issuer', pid],
    ['API server', cluster.apiServer.pid ?? 0],
    ['etcd', cluster.etcd.pid ?? 0],
  ] as const;
  const texts = parts.map(([name, each]) => {
    const { now, most } = residentOf(each);
    return `${name} ${now} MiB (${most} at most)`;
  });
  console.log(`${when}: RSS of ${texts.join(', ')}`);
}

function say(what: string, began: number): void {
  console.log(`${what} in ${((performance.now() - began) / 1_000).toFixed(0)} s`);
}

async function orEnded(
  { exited, log }: ComponentProcess,
  work: () => Promise<unknown>,
): Promise<void> {
  await Promise.race([
    work(),
    exited.then(() => {
      const last = log.slice(-10).map((line) => JSON.stringify(line));
      throw new Error(`pcr-issuer ended:\n${last.join('\n')}`);
    }),
  ]);
}
