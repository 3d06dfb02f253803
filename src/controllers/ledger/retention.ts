// SPDX-License-Identifier: Apache-2.0
/** Removes records that are old enough, in small transactions with pauses: an append waits for one of them at most. */
import { formatDuration, parseDuration } from '../../api/object/duration.ts';
import { keyOf } from '../../api/object/object.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { messageOf } from '../../errors.ts';
import { SALT_BYTES, type LedgerStore, type LogNaming } from '../../ledger/index.ts';
import type { Component } from '../../runtime/component/component.ts';

/** What retention is made of. */
export interface RetentionInit {
  readonly component: Pick<Component, 'clock' | 'delay' | 'random' | 'log' | 'metrics'>;
  readonly store: Pick<LedgerStore, 'erase' | 'scrub'>;
  /** How long records are kept; nothing: for ever. */
  readonly seconds: number | undefined;
  /** The signers whose certificates are recorded; nothing while they are not known. */
  readonly signers: () => readonly ClusterSigner[] | undefined;
  /** Of the logs; nothing while this replica does not lead. */
  readonly naming: () => LogNaming | undefined;
}

/** Retention as the ledger runs it. */
export interface Retention {
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Of one transaction: some milliseconds. */
const BATCH = 200;
const PAUSE_MILLISECONDS = 100;
/** How often to look whether this replica leads, and whether an hour is over. */
const TURN_MILLISECONDS = 30_000;
const EVERY_MILLISECONDS = 3_600_000;
/** What records of removals say. */
const BY = 'retention';

/** Looks once an hour for what is old enough. */
export function createRetention(init: RetentionInit): Retention {
  const { component, store, seconds } = init;
  let fault: string | undefined;
  let isScrubbed = true;
  let next = 0;

  function say(now: string | undefined): void {
    if (now !== undefined && now !== fault) {
      component.log.error({ error: now }, 'retention removes no records');
    }
    fault = now;
  }

  async function pass(signal: AbortSignal): Promise<void> {
    if (seconds === undefined || init.naming() === undefined) return;
    const signers = init.signers();
    if (signers === undefined) return;
    try {
      if (!isScrubbed) isScrubbed = await store.scrub();
      if (component.clock() < next) return;
      const tooShort = shorterThanLeaves(seconds, signers);
      if (tooShort === undefined) await removeAll(seconds, signal);
      say(tooShort);
      next = component.clock() + EVERY_MILLISECONDS;
    } catch (error) {
      say(messageOf(error));
    }
  }

  async function removeAll(kept: number, signal: AbortSignal): Promise<void> {
    let removed = 0;
    for (;;) {
      const naming = init.naming();
      if (naming === undefined || signal.aborted) break;
      const now = component.clock();
      const erasure = { reason: 'retention', appendedBefore: now - kept * 1000 } as const;
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
    warnings: () => (fault === undefined ? [] : [`no record is removed: ${fault}`]),
    run: async (signal) => {
      while (!signal.aborted) {
        await pass(signal);
        await component.delay(TURN_MILLISECONDS, signal).catch(() => undefined);
      }
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
