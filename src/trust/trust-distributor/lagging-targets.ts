// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '#api/object/object.ts';
import { TARGETS_LAGGING } from '#api/serving/report.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Component } from '#component/contract.ts';
import * as messages from './messages.ts';
import { TARGET_SERIES } from './metrics.ts';

/** Maximum number of targets that a report names. The others are counted. */
const NAMED = 5;

/** Targets whose last write failed, by signer. */
export interface LaggingTargets {
  /**
   * Records that the target lacks what its signer publishes.
   *
   * @param note - the reason, if it is not a failed write
   */
  readonly add: (signer: ClusterSigner, target: string, note?: string) => void;
  /** Records that the target is up to date, or is not a target any more. */
  readonly remove: (target: string) => void;
}

interface SignerLag {
  readonly signer: ClusterSigner;
  /** Targets in the order in which they began to lag, with a reason or ''. */
  readonly targets: Map<string, string>;
}

/**
 * Creates a tracker that reports each change as a metric and in the component's Lease, which
 * `authority` reads.
 */
export function createLaggingTargets({
  serving,
  metrics,
}: Pick<Component, 'serving' | 'metrics'>): LaggingTargets {
  const lagging = new Map<string, SignerLag>();
  const series = metrics.of(TARGET_SERIES);
  return {
    add: (signer, target, note = '') => {
      const key = keyOf(signer.metadata);
      const targets = lagging.get(key)?.targets ?? new Map<string, string>();
      targets.set(target, note);
      lagging.set(key, { signer, targets });
      series.lagging.set({ signer: signer.spec.signerName }, targets.size);
      // Each failure repeats the report, since a report expires.
      serving.report(signer, faultOf(targets));
    },
    remove: (target) => {
      for (const { signer, targets } of lagging.values()) {
        if (!targets.delete(target)) continue;
        series.lagging.set({ signer: signer.spec.signerName }, targets.size);
        if (targets.size === 0) serving.retract(signer, TARGETS_LAGGING);
        else serving.report(signer, faultOf(targets));
      }
    },
  };
}

function faultOf(targets: ReadonlyMap<string, string>): {
  readonly reason: string;
  readonly message: string;
  readonly stops: false;
} {
  const named = [...targets]
    .slice(0, NAMED)
    .map(([target, note]) => (note === '' ? target : messages.notedTarget(target, note)))
    .join(', ');
  const others = targets.size - NAMED;
  const more = others > 0 ? messages.moreTargets(others) : '';
  const message = messages.laggingTargets(named, more);
  return { reason: TARGETS_LAGGING, message, stops: false };
}
