// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '#api/object/object.ts';
import { signersDigest } from '#api/serving/report.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Component } from '#component/contract.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import { createComponentLeases } from './component-leases.ts';
import { servingOf, type ServingFinding } from './serving-of.ts';

/** Tracks whether each signer is served by the components that it needs. */
export interface ServingTracker {
  /** Returns undefined if Leases are off. */
  readonly of: (signer: ClusterSigner) => ServingFinding | undefined;
  /** Reports whether a replica of a component is live. False if Leases are off or unknown. */
  readonly runs: (name: string) => boolean;
  /** Receives a change of the set of signers. */
  readonly changed: () => void;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly warnings: () => readonly string[];
}

/**
 * Enqueues each signer whose finding changes, and no other.
 *
 * @param components - their names
 * @param onRunning - called when another set of them runs
 */
export function createServing(
  component: Component,
  components: readonly string[],
  signers: Pick<Signers, 'all' | 'known'>,
  onRunning: () => void,
): ServingTracker {
  const shown = new Map<string, string>();
  let running = '';
  let digest: string | undefined;
  const digestNow = (): string => (digest ??= signersDigest(signers.all()));
  const of = (signer: ClusterSigner): ServingFinding | undefined =>
    component.leases === undefined
      ? undefined
      : servingOf({ signer, stateOf: leases.of, digest: digestNow() });
  const runs = (name: string): boolean => (leases.of(name)?.replicas.length ?? 0) > 0;
  const leases = createComponentLeases(component, components, digestNow, () => {
    const before = running;
    running = components.filter(runs).join();
    if (running !== before) onRunning();
    const known = new Set<string>();
    for (const signer of signers.known()) {
      const key = keyOf(signer.metadata);
      const finding = JSON.stringify(of(signer));
      known.add(key);
      if (shown.get(key) === finding) continue;
      shown.set(key, finding);
      component.queue.add(key);
    }
    for (const key of shown.keys()) if (!known.has(key)) shown.delete(key);
  });
  return {
    of,
    runs,
    changed: () => {
      digest = undefined;
    },
    run: leases.run,
    warnings: leases.warnings,
  };
}
