// SPDX-License-Identifier: Apache-2.0
/** Removes records after the retention time. */
import { parseDuration } from '#api/object/duration.ts';
import { keyOf } from '#api/object/object.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SALT_BYTES, type LedgerStore, type LogNaming } from '../index.ts';
import type { Component } from '#component/contract.ts';
import { PAUSE_MILLISECONDS, type HourlyTask } from './hourly.ts';
import * as messages from './messages.ts';
import { LEDGER_SERIES } from './metrics.ts';

/** Dependencies of retention. */
export interface RetentionInit {
  readonly component: Pick<Component, 'clock' | 'delay' | 'random' | 'log' | 'metrics'>;
  readonly store: Pick<LedgerStore, 'erase' | 'scrub'>;
  /** How long to keep records. */
  readonly seconds: number;
  /** Returns the signers whose certificates are recorded, or undefined while they are unknown. */
  readonly signers: () => readonly ClusterSigner[] | undefined;
  /** Returns the naming of the logs, or undefined while this replica does not lead. */
  readonly naming: () => LogNaming | undefined;
}

/** Records of one transaction, which takes some milliseconds. */
const BATCH = 200;
/** Author in the records of removals. */
const BY = 'retention';

/**
 * Returns the task that removes old records. It then makes them unreadable in the files as soon as
 * that blocks no reader.
 */
export function retentionTask(init: RetentionInit): HourlyTask {
  const { component, store, seconds } = init;
  let isScrubbed = true;

  async function removeAll(
    bySigner: ReadonlyMap<string, number>,
    signal: AbortSignal,
  ): Promise<void> {
    let removed = 0;
    let after: number | undefined;
    for (;;) {
      const naming = init.naming();
      if (naming === undefined || signal.aborted) break;
      const now = component.clock();
      const before = (longest: number): number => now - longest * 1000;
      const erasure = {
        ...({ reason: 'retention', appendedBefore: before(seconds), after } as const),
        bySigner: new Map([...bySigner].map(([name, longest]) => [name, before(longest)])),
      };
      const salt = component.random(SALT_BYTES);
      const batch = await store.erase(erasure, { naming, now, by: BY, salt, limit: BATCH });
      component.metrics.of(LEDGER_SERIES).erased.inc({ reason: 'retention' }, batch.removed);
      removed += batch.removed;
      after = batch.next;
      if (after === undefined) break;
      await component.delay(PAUSE_MILLISECONDS, signal).catch(() => undefined);
    }
    if (removed === 0) return;
    component.log.info({ removed }, messages.RETENTION_REMOVED);
    isScrubbed = await store.scrub();
  }

  return {
    impact: messages.RECORDS_STAY,
    turn: async () => {
      if (!isScrubbed) isScrubbed = await store.scrub();
    },
    run: async (signal) => {
      const signers = init.signers();
      if (signers === undefined) return { done: false };
      const longer = longerThan(seconds, signers);
      await removeAll(new Map(longer.map(({ name, longest }) => [name, longest])), signal);
      return { done: true, fault: shorterThanLeaves(seconds, longer) };
    },
  };
}

/** A signer whose certificates outlive the retention time. */
interface LongerSigner {
  readonly signer: ClusterSigner;
  readonly name: string;
  /** Seconds. */
  readonly longest: number;
}

/**
 * Returns the signers whose records are kept as long as their certificates live, ClusterSigners
 * first. These records name the holders, and the monitor compares certificates with them. A signer
 * extends the retention of its own records only.
 */
function longerThan(seconds: number, signers: readonly ClusterSigner[]): readonly LongerSigner[] {
  return signers
    .map((signer) => ({
      signer,
      name: signer.spec.signerName,
      longest: Math.max(
        0,
        ...(signer.status?.authorities ?? []).map((each) => parseDuration(each.longestLeaf)),
      ),
    }))
    .filter(({ longest }) => longest > seconds)
    .toSorted((a, b) => Number(isNamespaced(a.signer)) - Number(isNamespaced(b.signer)));
}

/**
 * Returns the warning about a ClusterSigner. A team's namespaced Signer is not a fault of the
 * installation.
 */
function shorterThanLeaves(seconds: number, longer: readonly LongerSigner[]): string | undefined {
  const [first] = longer.filter(({ signer }) => !isNamespaced(signer));
  if (first === undefined) return undefined;
  const { signer, longest } = first;
  return messages.retentionShort(seconds, keyOf(signer.metadata), longest);
}
