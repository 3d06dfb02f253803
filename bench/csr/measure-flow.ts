// SPDX-License-Identifier: Apache-2.0
import { X509Certificate, type KeyPairKeyObjectResult } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { listPages } from '#kube/watch/list-pages.ts';
import { resource } from '#kube/resource/resource.ts';
import { startContender, type ContenderProcess } from '../cluster/contender-process.ts';
import type { BenchCluster } from '../cluster/start.ts';
import { between, createMeter } from '../measure/meter.ts';
import { untilQuiet } from '../measure/quiet.ts';
import { removeAll } from '../requests/remove-all.ts';
import { inParallel } from '../requests/in-parallel.ts';
import { CSR_ISSUED, watchIssued } from '../requests/watch-issued.ts';
import type { CsrContender } from './baselines.ts';
import { LABEL, csrBody } from './requests.ts';

export const CSRS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});

/** What one flow took. CPU is in microseconds a certificate. */
export interface Flow {
  /** From the first POST to the last certificate: creation is part of it, for everybody alike. */
  readonly certificatesPerSecond: number;
  readonly contenderCpu: number;
  readonly apiServerCpu: number;
  readonly etcdCpu: number;
  /** The bench's own creations and watch. */
  readonly benchCpu: number;
  readonly otherCores: number;
}

type Keys = readonly KeyPairKeyObjectResult[];

const CREATIONS_IN_FLIGHT = 32;
/** As slow as this nobody is; kube-controller-manager as shipped answers 10 a second. */
const MIN_PER_SECOND = 4;
const START_MS = 60_000;
const SAMPLES = 50;

/**
 * Starts the contender, lets it answer `warmUp` requests that are not counted, and creates the
 * others as fast as the API server takes them, until all have their certificates.
 */
export async function measureFlow(
  bench: BenchCluster,
  contender: CsrContender,
  { keys, warmUp }: { readonly keys: Keys; readonly warmUp: number },
): Promise<Flow> {
  const running: ContenderProcess[] = [];
  try {
    for (const program of contender.processes) {
      running.push(await startContender(program, bench.cluster.directory));
    }
    await untilIssued(bench, contender, running, { keys: keys.slice(0, warmUp), prefix: 'warm' });
    await untilQuiet(bench.cluster);
    const meter = createMeter(
      bench.cluster,
      running.map(({ pid }) => pid),
    );
    const first = meter();
    await untilIssued(bench, contender, running, { keys, prefix: 'csr' });
    const spent = between(first, meter());
    await verify(bench, contender, keys);
    const known = spent.contender + spent.apiServer + spent.etcd + spent.bench;
    return {
      certificatesPerSecond: keys.length / (spent.elapsed / 1e6),
      contenderCpu: spent.contender / keys.length,
      apiServerCpu: spent.apiServer / keys.length,
      etcdCpu: spent.etcd / keys.length,
      benchCpu: spent.bench / keys.length,
      otherCores: Math.max(0, spent.machine - known) / spent.elapsed,
    };
  } finally {
    await Promise.all(running.map((each) => each.stop()));
    await removeAll(bench.client, CSRS.collection(), { labelSelector: LABEL });
  }
}

/**
 * Creates a request for each key, and resolves when the bench's own watch has seen all
 * certificates.
 */
async function untilIssued(
  { client }: BenchCluster,
  contender: CsrContender,
  running: readonly ContenderProcess[],
  { keys, prefix }: { readonly keys: Keys; readonly prefix: string },
): Promise<void> {
  const { name, signerName, subjects } = contender;
  const size = keys.length;
  const bodies = keys.map((key, index) =>
    csrBody(signerName, subjects, { name: nameOf(prefix, index), key }),
  );
  const path = CSRS.collection();
  const end = new AbortController();
  const { signal } = end;
  try {
    const resourceVersion = await listPages(
      { client, path, labelSelector: LABEL },
      () => undefined,
    );
    const watched = { client, path, signerName, resourceVersion, size, mark: CSR_ISSUED, signal };
    const issued = await watchIssued(watched);
    const patience = START_MS + (size / MIN_PER_SECOND) * 1000;
    const late = delay(patience, undefined, { signal, ref: false }).then(() => {
      throw new Error(`${name}: ${issued.seen()} of ${size} after ${patience / 1000} s`);
    });
    const created = inParallel(bodies, CREATIONS_IN_FLIGHT, async (body) => {
      await client.request({ method: 'POST', path, body });
    });
    const all = Promise.all([created, issued.all]);
    await Promise.race([all, late, ...running.map(({ failed }) => failed)]);
  } finally {
    end.abort();
  }
}

function nameOf(prefix: string, index: number): string {
  return `${prefix}-${String(index).padStart(6, '0')}`;
}

/** A figure for wrong certificates would be worth nothing. */
async function verify(
  { client, cluster }: BenchCluster,
  { name, subjects }: CsrContender,
  keys: Keys,
): Promise<void> {
  const ca = new X509Certificate(readFileSync(cluster.clientCa.certFile));
  const step = Math.max(1, Math.floor(keys.length / SAMPLES));
  for (let index = 0; index < keys.length; index += step) {
    const object = nameOf('csr', index);
    const path = CSRS.object({ name: object });
    const { status } = await client.request<CertificateSigningRequest>({ method: 'GET', path });
    const leaf = new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'));
    const subject = [`O=${subjects.organization}`, `CN=${subjects.commonNamePrefix}${object}`];
    const wanted = keys[index]?.publicKey;
    if (!leaf.verify(ca.publicKey)) throw new Error(`${name}: ${object}: it is not by the CA`);
    if (wanted === undefined || !leaf.publicKey.equals(wanted))
      throw new Error(`${name}: ${object}: another key`);
    if (leaf.subject !== subject.join('\n')) throw new Error(`${name}: ${object}: ${leaf.subject}`);
  }
}
