// SPDX-License-Identifier: Apache-2.0
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { resource } from '#kube/resource/resource.ts';
import { until } from '../../cluster/until.ts';
import type { LogLine } from '../../support/cluster/component-process.ts';
import { listRequests, unended } from '../lab/ended.ts';
import type { Lab } from '../lab/lab.ts';
import type { Kind, Wanted } from '../lab/wanted.ts';
import { judge, type Evidence, type Verdict } from './judge.ts';
import { signaturesIn } from './signatures.ts';
import { storyOf, type Books } from './story.ts';
import { writesIn } from './writes.ts';

const BUNDLE = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
}).object({ name: 'example.com:workload:primary' });

export interface Trial {
  readonly wanted: readonly Wanted[];
  /** The API server was killed meanwhile. */
  readonly auditMayMiss?: boolean;
}

export interface Judged extends Verdict {
  /** For people: what is wrong, and the whole way of each of the first requests concerned. */
  readonly report: readonly string[];
}

/** Waits until all have ended, for as long as it is given. @returns those that have not */
export async function awaitEnds(
  lab: Lab,
  wanted: readonly Wanted[],
  milliseconds: number,
): Promise<readonly Wanted[]> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const left = await unended(lab.admin, wanted).catch(() => wanted);
    if (left.length === 0 || Date.now() > deadline) return left;
    await sleep(LOOK_MS);
  }
}

const LOOK_MS = 100;
/** The audit log is written after the answer. */
const AUDIT_MS = 5_000;
const STORIES = 3;

/** Lays the API server's audit log, our log and the objects beside each other. */
export async function tryRequests(
  lab: Lab,
  { wanted, auditMayMiss = false }: Trial,
): Promise<Judged> {
  const anchors = await anchorsOf(lab);
  const objects = await listRequests(lab.admin);
  const logs = new Map<string, readonly LogLine[]>();
  for (const [client, each] of lab.components) logs.set(client, each.log());
  const signatures = signaturesIn([...logs.values()].flat());
  const running = [...lab.components.values()].flatMap((each) => each.logOfRunning());
  const signaturesOfRunning = signaturesIn(running);
  const look = async (): Promise<Evidence> => {
    const writes = writesIn(await lab.cluster.readAudit());
    const ours = { signatures, signaturesOfRunning };
    return { wanted, objects, writes, ...ours, anchors, auditMayMiss };
  };
  let evidence = await look();
  let verdict = judge(evidence);
  if (verdict.violations.length > 0) {
    await until('the audit log is whole', AUDIT_MS, async () => {
      evidence = await look();
      verdict = judge(evidence);
      return verdict.violations.length === 0;
    }).catch(() => undefined);
  }
  const { traffic, tally } = lab.proxy;
  const report = reportOf(verdict, { traffic, tally, writes: evidence.writes, objects, logs });
  return { ...verdict, report };
}

function reportOf({ violations }: Verdict, books: Books): readonly string[] {
  return [
    ...violations.map(({ wanted, what }) => `${wanted.kind} ${wanted.name}: ${what}`),
    ...violations
      .slice(0, STORIES)
      .flatMap(({ wanted }) => [`\nthe way of ${wanted.name}:`, ...storyOf(wanted, books)]),
  ];
}

async function anchorsOf({ cluster, admin }: Lab): Promise<Record<Kind, X509Certificate>> {
  const { spec } = await admin.request<ClusterTrustBundle>({ method: 'GET', path: BUNDLE });
  const workload = new X509Certificate(spec.trustBundle);
  return {
    csr: new X509Certificate(readFileSync(cluster.clientCa.certFile)),
    pcr: workload,
    cr: workload,
  };
}
