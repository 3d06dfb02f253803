// SPDX-License-Identifier: Apache-2.0
import type { ContenderProcess } from '../cluster/contender-process.ts';
import { WORKLOAD } from '../cluster/ours.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { median } from '../measure/median.ts';
import { REQUESTS } from '../requests/backlog.ts';
import { removeAll } from '../requests/remove-all.ts';
import { issueAll } from './issue-all.ts';
import { sampleResident } from './resident.ts';

export interface Drift {
  /** MiB, the median while the second quarter of the certificates was issued, and the last. */
  readonly secondQuarterMiB: number;
  readonly lastQuarterMiB: number;
  readonly mostMiB: number;
}

/** Requests come, are issued and are deleted in parts: nothing stays but what leaks. */
const PARTS = 20;
const MEBI = 2 ** 20;

export async function measureDrift(
  bench: BenchCluster,
  ours: ContenderProcess,
  { issuances, stubs }: { readonly issuances: number; readonly stubs: readonly string[] },
): Promise<Drift> {
  const size = Math.ceil(issuances / PARTS);
  const quarters: number[][] = [[], [], [], []];
  for (let part = 0; part < PARTS; part++) {
    const resident = sampleResident(ours.pid);
    await issueAll(bench, ours, { prefix: `part-${part}`, size, stubs });
    const fieldSelector = `spec.signerName=${WORKLOAD.signerName}`;
    await removeAll(bench.client, REQUESTS.collection(NAMESPACE), { fieldSelector });
    quarters[Math.floor((part * 4) / PARTS)]?.push(...resident.stop());
  }
  return {
    secondQuarterMiB: median(quarters[1] ?? []) / MEBI,
    lastQuarterMiB: median(quarters[3] ?? []) / MEBI,
    mostMiB: quarters.flat().reduce((most, each) => Math.max(most, each), 0) / MEBI,
  };
}
