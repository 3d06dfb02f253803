// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '../../api/object/object.ts';
import { TARGETS_LAGGING } from '../../api/serving/report.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import type { Component } from '../../runtime/component/component.ts';

/** So many are named in the report; the others are counted. */
const NAMED = 5;

/** Targets whose last write failed, by signer. */
export interface Laggards {
  /** The target does not have what its signer publishes. */
  readonly add: (signer: ClusterSigner, target: string) => void;
  /** It has, or is no target any more. */
  readonly remove: (target: string) => void;
}

interface Lagging {
  readonly signer: ClusterSigner;
  /** In the order in which they began to lag. */
  readonly targets: Set<string>;
}

/** Reports each change in the component's Lease, where `authority` reads it, and as a metric. */
export function createLaggards({
  serving,
  metrics,
}: Pick<Component, 'serving' | 'metrics'>): Laggards {
  const lagging = new Map<string, Lagging>();
  return {
    add: (signer, target) => {
      const key = keyOf(signer.metadata);
      const targets = lagging.get(key)?.targets ?? new Set();
      targets.add(target);
      lagging.set(key, { signer, targets });
      metrics.trustTargetsLagging(signer.spec.signerName, targets.size);
      // Each failure reports it again, since a report lapses.
      serving.report(signer, faultOf(targets));
    },
    remove: (target) => {
      for (const { signer, targets } of lagging.values()) {
        if (!targets.delete(target)) continue;
        metrics.trustTargetsLagging(signer.spec.signerName, targets.size);
        if (targets.size === 0) serving.retract(signer, TARGETS_LAGGING);
        else serving.report(signer, faultOf(targets));
      }
    },
  };
}

function faultOf(targets: ReadonlySet<string>): {
  readonly reason: string;
  readonly message: string;
  readonly stops: false;
} {
  const named = [...targets].slice(0, NAMED).join(', ');
  const others = targets.size - NAMED;
  const more = others > 0 ? ` and ${others} more` : '';
  const message = `${named}${more} cannot be written; the log of trust-distributor says why`;
  return { reason: TARGETS_LAGGING, message, stops: false };
}
