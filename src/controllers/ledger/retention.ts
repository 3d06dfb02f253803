// SPDX-License-Identifier: Apache-2.0
/** Removes records that are old enough. */
import { formatDuration, parseDuration } from '../../api/object/duration.ts';
import { keyOf } from '../../api/object/object.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { SALT_BYTES, type LedgerStore, type LogNaming } from '../../ledger/index.ts';
import type { Component } from '../../runtime/component/component.ts';
import { PAUSE_MILLISECONDS, type HourlyTask } from './hourly.ts';

/** What retention is made of. */
export interface RetentionInit {
  readonly component: Pick<Component, 'clock' | 'delay' | 'random' | 'log' | 'metrics'>;
  readonly store: Pick<LedgerStore, 'erase' | 'scrub'>;
  /** How long records are kept. */
  readonly seconds: number;
  /** The signers whose certificates are recorded; nothing while they are not known. */
  readonly signers: () => readonly ClusterSigner[] | undefined;
  /** Of the logs; nothing while this replica does not lead. */
  readonly naming: () => LogNaming | undefined;
}

/** Of one transaction: some milliseconds. */
const BATCH = 200;
/** What records of removals say. */
const BY = 'retention';

/** Removes what is old enough, and makes it unreadable in the files as soon as that blocks nobody. */
export function retentionTask(init: RetentionInit): HourlyTask {
  const { component, store, seconds } = init;
  let isScrubbed = true;

  async function removeAll(signal: AbortSignal): Promise<void> {
    let removed = 0;
    for (;;) {
      const naming = init.naming();
      if (naming === undefined || signal.aborted) break;
      const now = component.clock();
      const erasure = { reason: 'retention', appendedBefore: now - seconds * 1000 } as const;
      const salt = component.random(SALT_BYTES);
      const batch = await store.erase(erasure, { naming, now, by: BY, salt, limit: BATCH });
      component.metrics.ledgerErased('retention', batch.removed);
      removed += batch.removed;
      if (batch.removed < BATCH) break;
      await component.delay(PAUSE_MILLISECONDS, signal).catch(() => undefined);
    }
    if (removed === 0) return;
    component.log.info({ removed }, 'retention has removed records');
    isScrubbed = await store.scrub();
  }

  return {
    affects: 'no record is removed',
    turn: async () => {
      if (!isScrubbed) isScrubbed = await store.scrub();
    },
    run: async (signal) => {
      const signers = init.signers();
      if (signers === undefined) return { done: false };
      const fault = shorterThanLeaves(seconds, signers);
      if (fault === undefined) await removeAll(signal);
      return { done: true, fault };
    },
  };
}

/** Why this is too short: records of living certificates tell who has them, and the monitor compares with them. */
function shorterThanLeaves(seconds: number, signers: readonly ClusterSigner[]): string | undefined {
  for (const { metadata, status } of signers) {
    for (const { longestLeaf } of status?.authorities ?? []) {
      if (parseDuration(longestLeaf) <= seconds) continue;
      return `--retention is ${formatDuration(seconds)}, and certificates of signer ${keyOf(metadata)} live for ${longestLeaf}: write at least that`;
    }
  }
  return undefined;
}
