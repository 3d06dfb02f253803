// SPDX-License-Identifier: Apache-2.0
import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../cluster/contender.ts';
import { grant } from '../cluster/grant.ts';
import { WORKLOAD } from '../cluster/ours.ts';
import { NAMESPACE, type BenchCluster } from '../cluster/start.ts';
import { drainOf, type Drain } from '../drain/measure-drain.ts';
import { createMeter } from '../measure/meter.ts';
import { untilQuiet } from '../measure/quiet.ts';
import { REQUESTS, createBacklog } from '../requests/backlog.ts';
import { verifyIssued } from '../requests/verify-issued.ts';
import { POD_ISSUED, watchIssued } from '../requests/watch-issued.ts';
import { startMember, type Member } from './members.ts';

export interface ShareInit {
  readonly program: Program;
  readonly replicas: number;
  readonly stubs: readonly string[];
}

const PATIENCE_MS = 300_000;
const METER_MS = 20;

/**
 * Drains by replicas that run and share the work before anything is there to do: who starts is not
 * measured here. The requests wait for their CA, which its owner has taken back; the clock runs
 * from the first certificate after it is granted again to the last one. CPU is of all replicas
 * together.
 */
export async function shareBacklog(bench: BenchCluster, init: ShareInit): Promise<Drain> {
  const { client, cluster } = bench;
  const { signerName } = WORKLOAD;
  const members: Member[] = [];
  const end = new AbortController();
  const { signal } = end;
  for (let index = 0; index < init.replicas; index++) {
    const name = `${init.program.name}-${index}`;
    members.push(await startMember(bench, { ...init.program, name }));
  }
  await grant(bench, undefined);
  const backlog = await createBacklog(bench, signerName, init.stubs);
  try {
    const { size } = backlog;
    const { resourceVersion } = await backlog.list();
    await untilQuiet(cluster);
    const issued = await watchIssued({
      client,
      signerName,
      resourceVersion,
      size,
      signal,
      path: REQUESTS.collection(NAMESPACE),
      mark: POD_ISSUED,
    });
    const processes = members.map(({ process }) => process);
    const meter = createMeter(
      cluster,
      processes.map(({ pid }) => pid),
    );
    const metering = setInterval(meter, METER_MS);
    const began = performance.now() * 1000;
    await grant(bench, signerName);
    const first = issued.first.then(meter);
    const late = delay(PATIENCE_MS, undefined, { signal, ref: false }).then(() => {
      throw new Error(`${issued.seen()} of ${size} after ${PATIENCE_MS / 1000} s`);
    });
    const failed = processes.map((each) => each.failed);
    await Promise.race([issued.all, late, ...failed]).finally(() => {
      clearInterval(metering);
    });
    const last = meter();
    const contender = { ...init.program, ...WORKLOAD };
    await verifyIssued(client, contender, backlog);
    return drainOf(size, { began, first: await first, last });
  } finally {
    end.abort();
    await Promise.all(members.map(({ process }) => process.stop()));
    await grant(bench, signerName);
    await backlog.remove();
  }
}
