// SPDX-License-Identifier: Apache-2.0
import { federatedBundleName } from '../../api/object/federated-bundle.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { FederatedChange, FederatedState } from './decide.ts';

/** What is remembered of a trust domain while the process runs. */
export interface Told {
  /** Unix milliseconds: when a look is due, and when it was last. */
  readonly nextFetch: number;
  readonly lastFetch: number;
  /** Looks in a row that were not good. */
  readonly failures: number;
  /** `spiffe_refresh_hint` of the bundle that was taken last. */
  readonly hint?: number | undefined;
  /** The highest that was accepted, also of a bundle that was dropped. */
  readonly sequence?: bigint | undefined;
  /** PEM as we wrote it, or found it good, last; undefined where nothing is to be there. */
  readonly text?: string | undefined;
  /** UID of the bundle that was deleted last: a watch may still show it. */
  readonly dropped?: string | undefined;
  /** Unix milliseconds of the last good answer. */
  readonly confirmedAt?: number;
  /** Why the last look was not good, or what is odd about what was taken. */
  readonly problem?: string | undefined;
}

export const NOTHING_TOLD: Told = { nextFetch: 0, lastFetch: 0, failures: 0 };

/** What is said of a look. */
interface Said {
  readonly change: FederatedChange;
  /** What was wrong before: it is not said again by an Event. */
  readonly before: string | undefined;
  /** Of a bundle that is taken all the same. */
  readonly warning?: string | undefined;
}

/**
 * Says what a change is, by log, metric and, where it is a warning, an Event; nothing is dropped in silence.
 *
 * @returns what is wrong now
 */
export function tell(
  component: Component,
  state: FederatedState,
  { change, before, warning }: Said,
): string | undefined {
  const { log, metrics } = component;
  const { trustDomain } = state;
  const name = federatedBundleName(trustDomain);
  const { kind, reason = 'Unchanged' } = change;
  metrics.federated(trustDomain, reason);
  const problem = problemOf(change);
  if (problem === undefined) {
    if (kind === 'write')
      log.info({ trustDomain, name, reason }, 'bundle of a foreign trust domain written');
    if (warning !== undefined && warning !== before) {
      log.warn({ trustDomain, name, error: warning }, 'foreign trust domain: odd bundle');
      warn(component, state, 'FederatedSharedAnchor', warning);
    }
    return warning;
  }
  log.warn({ trustDomain, name, reason, error: problem }, `foreign trust domain: ${kind}`);
  if (kind !== 'keep' || problem !== before)
    warn(
      component,
      state,
      kind === 'drop' ? 'FederatedBundleDropped' : `Federated${reason}`,
      problem,
    );
  return problem;
}

/** `Reason: sentence`, where something is wrong. */
function problemOf(change: FederatedChange): string | undefined {
  const { kind, reason = '' } = change;
  if (kind === 'write')
    return reason === 'OwnAnchor'
      ? 'OwnAnchor: a CA is ours, or distrusted: it is taken out'
      : undefined;
  return change.message === undefined ? undefined : `${reason}: ${change.message}`;
}

function warn(
  { events }: Component,
  { trustDomain, existing }: FederatedState,
  reason: string,
  problem: string,
): void {
  const { apiVersion = 'certificates.k8s.io/v1', metadata } = existing ?? {};
  events.record({
    regarding: {
      ...{ apiVersion, kind: 'ClusterTrustBundle', name: federatedBundleName(trustDomain) },
      ...(metadata === undefined ? {} : { uid: metadata.uid }),
    },
    ...{ type: 'Warning', reason, action: 'Federate' },
    note: `trust domain ${trustDomain}: ${problem}`,
  });
}
