// SPDX-License-Identifier: Apache-2.0
/** Our pcr-issuer without a ledger, and in the mode `required` with one over each database. */
import type { Contender } from '../cluster/contender.ts';
import { countersign, WORKLOAD } from '../cluster/ours.ts';
import type { BenchCluster } from '../cluster/start.ts';
import type { Postgres } from '../../test/support/ledger/postgres.ts';
import { startLedger } from './stand.ts';

/** Without a ledger first: it is what the others are compared with. */
export const ARMS = ['off', 'sqlite', 'postgres'] as const;

/** One of {@link ARMS}. */
export type Arm = (typeof ARMS)[number];

/** Starts what an arm needs, lets `work` measure, and ends it. */
export type WithArm = <T>(arm: Arm, work: (contender: Contender) => Promise<T>) => Promise<T>;

/**
 * Every turn has a new ledger over an empty database.
 *
 * @param server - with its defaults: fsync is on, and a commit is on disk
 */
export function armsOn({ cluster }: BenchCluster, server: Postgres): WithArm {
  let databases = 0;
  return async (arm, work) => {
    if (arm === 'off') {
      return work({ ...(await countersign(cluster, 'pcr-issuer')), ...WORKLOAD, name: arm });
    }
    databases += 1;
    const databaseUrl = arm === 'sqlite' ? undefined : await server.database(`bench-${databases}`);
    const ledger = await startLedger(cluster, { databaseUrl });
    try {
      const program = await countersign(cluster, 'pcr-issuer', ledger.flags);
      const beside = (): readonly number[] =>
        arm === 'sqlite' ? [ledger.pid] : [ledger.pid, ...server.processes()];
      return await work({ ...program, ...WORKLOAD, name: arm, beside });
    } finally {
      await ledger.stop();
    }
  };
}
