// SPDX-License-Identifier: Apache-2.0
import { federatedBundleName } from '#api/object/federated-bundle.ts';
import type { Component } from '#component/contract.ts';
import type { AgeStart, BundleWarning, FederatedChange, FederatedState } from './decide.ts';
import * as messages from './messages.ts';
import { FEDERATION_SERIES } from './metrics.ts';

/** State of a trust domain that this process keeps in memory. */
export interface FetchState {
  /** Unix milliseconds of the next and the last fetch. */
  readonly nextFetch: number;
  readonly lastFetch: number;
  /** This process has applied an answer, a good one or not. */
  readonly hasAnswer?: boolean;
  /** Consecutive failed fetches. */
  readonly failures: number;
  /** `spiffe_refresh_hint` of the latest accepted bundle. */
  readonly hint?: number | undefined;
  /** The highest accepted sequence number, including that of a dropped bundle. */
  readonly sequence?: bigint | undefined;
  /** PEM as last written or confirmed, or undefined if no bundle should exist. */
  readonly text?: string | undefined;
  /**
   * UID of a bundle that verifies no endpoint: the last deleted one, which a watch may still show,
   * or one that would be stale.
   */
  readonly dropped?: string | undefined;
  /** Unix milliseconds of the last good answer. */
  readonly confirmedAt?: number;
  readonly ageFrom?: AgeStart;
  /** Reason why the last fetch failed, or a warning about the accepted bundle. */
  readonly problem?: string | undefined;
}

export const NEVER_FETCHED: FetchState = { nextFetch: 0, lastFetch: 0, failures: 0 };

/** Input of a report. */
interface Report {
  readonly change: FederatedChange;
  /** The previous problem, which gets no second Event. */
  readonly before: string | undefined;
  readonly warning?: BundleWarning | undefined;
}

/**
 * Reports a change by log, metric and, for a warning, an Event. Every drop is reported.
 *
 * @returns the current problem
 */
export function reportChange(
  component: Component,
  state: FederatedState,
  { change, before, warning }: Report,
): string | undefined {
  const { log, metrics } = component;
  const { trustDomain } = state;
  const name = federatedBundleName(trustDomain);
  const { kind, reason = 'Unchanged' } = change;
  metrics.of(FEDERATION_SERIES).fetches.inc({ trust_domain: trustDomain, outcome: reason });
  const problem = problemOf(change);
  if (problem === undefined) {
    if (kind === 'write') log.info({ trustDomain, name, reason }, messages.BUNDLE_WRITTEN);
    if (warning === undefined) return undefined;
    const text = messages.withReason(warning.reason, warning.message);
    if (text !== before) {
      log.warn({ trustDomain, name, error: text }, messages.SUSPICIOUS_BUNDLE);
      warn(component, state, `Federated${warning.reason}`, text);
    }
    return text;
  }
  log.warn({ trustDomain, name, reason, error: problem }, messages.bundleChange(kind));
  if (kind !== 'keep' || problem !== before)
    warn(
      component,
      state,
      kind === 'drop' ? 'FederatedBundleDropped' : `Federated${reason}`,
      problem,
    );
  return problem;
}

/** Returns `Reason: sentence` if there is a problem. */
function problemOf(change: FederatedChange): string | undefined {
  const { kind, reason = '' } = change;
  if (kind === 'write') return reason === 'OwnAnchor' ? messages.OWN_ANCHOR_REMOVED : undefined;
  return change.message === undefined ? undefined : messages.withReason(reason, change.message);
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
      apiVersion,
      kind: 'ClusterTrustBundle',
      name: federatedBundleName(trustDomain),
      ...(metadata === undefined ? {} : { uid: metadata.uid }),
    },
    type: 'Warning',
    reason,
    action: 'Federate',
    note: messages.ofTrustDomain(trustDomain, problem),
  });
}
