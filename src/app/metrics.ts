// SPDX-License-Identifier: Apache-2.0
import { AUTHORITY_PHASES } from '../api/signer/cluster-signer.ts';
import type { CallResult } from '../kube/client/client.ts';
import type { QueueMetrics } from '../kube/workqueue/queue.ts';
import type { Component } from '../runtime/component/component.ts';
import type {
  LedgerMetrics,
  NotificationMetrics,
  RequestKind,
} from '../runtime/component/metrics.ts';
import type { Metrics } from '../web/metrics.ts';

const KINDS: readonly RequestKind[] = [
  'CertificateSigningRequest',
  'PodCertificateRequest',
  'CertificateRequest',
];

/** Anchors with a series of their own: anyone who adds one a second must not fill up the process. */
const MAX_STRANGERS = 64;

function targetMetrics(
  metrics: Metrics,
): Pick<Component['metrics'], 'trustTarget' | 'trustTargetsLagging'> {
  return {
    trustTarget: (signer, outcome) => metrics.trustTargets.inc({ signer, outcome }),
    trustTargetsLagging: (signer, count) => metrics.trustTargetsLagging.set({ signer }, count),
  };
}

/** Maps what a component counts to the series of `web/metrics.ts`. */
export function componentMetrics(metrics: Metrics, name: string): Component['metrics'] {
  const strangers = new Set<string>();
  return {
    watchRestart: ({ resource }, reason) => metrics.watchRestarts.inc({ resource, reason }),
    watchEvent: ({ resource, selector }, seconds) =>
      metrics.watchLastEvent.set({ resource, selector }, seconds),
    watchStopped: ({ resource, selector }) => metrics.watchLastEvent.remove({ resource, selector }),
    worked: (seconds) => metrics.queueWork.observe({ name }, seconds),
    retried: () => metrics.queueRetries.inc({ name }),
    outcome: ({ kind, signer, outcome, reason }) =>
      metrics.requests.inc({ kind, signer, outcome, reason }),
    duration: (kind, signer, seconds) => metrics.requestDuration.observe({ kind, signer }, seconds),
    pending: (kind, signer, count) => metrics.requestPending.set({ kind, signer }, count),
    ...podMetrics(metrics),
    foreignBundles: (signer, count) => metrics.foreignBundles.set({ signer }, count),
    strangerAnchor: (signer, fingerprint) => {
      const isNamed = strangers.has(fingerprint) || strangers.size < MAX_STRANGERS;
      if (isNamed) strangers.add(fingerprint);
      metrics.strangerAnchors.inc({ signer, anchor: isNamed ? fingerprint : 'other' });
    },
    ...{ ...answerMetrics(metrics), ...federationMetrics(metrics) },
    ...targetMetrics(metrics),
    authorityNotAfter: (signer, seconds) => metrics.authorityNotAfter.set({ signer }, seconds),
    authorityFullLeaves: (signer, seconds) => metrics.authorityFullLeaves.set({ signer }, seconds),
    authorityPhase: (signer, phase, count) => metrics.authorityPhase.set({ signer, phase }, count),
    bundle: (signer, { certificates, notAfter, published }) => {
      metrics.bundleCertificates.set({ signer }, certificates);
      metrics.bundleNotAfter.set({ signer }, notAfter);
      metrics.bundlePublished.set({ signer }, published);
    },
    ...crlMetrics(metrics),
    ...{ ...ledgerMetrics(metrics), ...notificationMetrics(metrics) },
    ...refreshMetrics(metrics),
    acmeCall: (endpoint, status) => metrics.acmeCalls.inc({ endpoint, status }),
    acmeOrders: (state, count) => metrics.acmeOrders.set({ state }, count),
    acmeChallenges: (state, count) => metrics.acmeChallenges.set({ state }, count),
    acmeSelfCheck: (type, passed, seconds) =>
      metrics.acmeSelfChecks.observe({ type, passed: String(passed) }, seconds),
    acmeRateLimited: (seconds) => {
      metrics.acmeRateLimits.inc();
      metrics.acmeRateLimitWait.inc(seconds);
    },
    acmeRenewals: (state, count) => metrics.acmeRenewals.set({ state }, count),
    acmeNextRenewal: (at) => {
      if (at === undefined) metrics.acmeNextRenewal.reset();
      else metrics.acmeNextRenewal.set(at / 1000);
    },
    unserved: (signer) => {
      removeRequests(metrics, signer);
      for (const phase of AUTHORITY_PHASES) metrics.authorityPhase.remove({ signer, phase });
      metrics.foreignBundles.remove({ signer });
      metrics.authorityNotAfter.remove({ signer });
      metrics.authorityFullLeaves.remove({ signer });
      metrics.bundleCertificates.remove({ signer });
      metrics.bundleNotAfter.remove({ signer });
      metrics.bundlePublished.remove({ signer });
      removeCrl(metrics, signer);
    },
  };
}

/** Of the components that answer strangers. */
function answerMetrics(
  metrics: Metrics,
): Pick<Component['metrics'], 'challengeAnswered' | 'bundleAnswered' | 'endpointCertificate'> {
  return {
    challengeAnswered: (status) => metrics.challengeResponses.inc({ code: String(status) }),
    bundleAnswered: (profile, status) =>
      metrics.bundleAnswers.inc({ profile, code: String(status) }),
    endpointCertificate: (profile, notAfter) => metrics.endpointNotAfter.set({ profile }, notAfter),
  };
}

function federationMetrics(
  metrics: Metrics,
): Pick<Component['metrics'], 'federated' | 'federatedState'> {
  return {
    federated: (domain, outcome) => metrics.federated.inc({ trust_domain: domain, outcome }),
    federatedState: (domain, state) => {
      const labels = { trust_domain: domain };
      if (state === undefined) {
        metrics.federatedAnchors.remove(labels);
        metrics.federationConfirmed.remove(labels);
        return;
      }
      metrics.federatedAnchors.set(labels, state.anchors);
      metrics.federationConfirmed.set(labels, state.confirmedAt);
    },
  };
}

function podMetrics({
  podNamesOutdated,
  certificateExpiry,
  refusedExpiry,
}: Metrics): Pick<Component['metrics'], 'podNamesOutdated' | 'expiries'> {
  return {
    expiries: (series) => {
      certificateExpiry.reset();
      refusedExpiry.reset();
      for (const { signer, namespace, owner, soonest, refused } of series) {
        certificateExpiry.set({ signer, owner_namespace: namespace, owner }, soonest);
        if (refused !== undefined)
          refusedExpiry.set({ signer, owner_namespace: namespace, owner }, refused);
      }
    },
    podNamesOutdated: (signer, leaves, since) => {
      podNamesOutdated.set({ signer, since }, leaves);
      // One of the two tells more; both would be counted together.
      podNamesOutdated.remove({ signer, since: since === 'start' ? 'ledger' : 'start' });
    },
  };
}

function removeRequests({ requestPending, podNamesOutdated }: Metrics, signer: string): void {
  for (const kind of KINDS) requestPending.remove({ kind, signer });
  for (const since of ['start', 'ledger']) podNamesOutdated.remove({ signer, since });
}

function refreshMetrics(
  metrics: Metrics,
): Pick<Component['metrics'], 'refreshed' | 'restarted' | 'evicted'> {
  return {
    refreshed: (states) => {
      metrics.refreshWorkloads.reset();
      for (const [state, count] of states) metrics.refreshWorkloads.set({ state }, count);
    },
    restarted: (outcome) => {
      metrics.refreshRestarts.inc({ outcome });
    },
    evicted: (outcome) => {
      metrics.refreshEvictions.inc({ outcome });
    },
  };
}

function crlMetrics(metrics: Metrics): Pick<Component['metrics'], 'crl' | 'crlFailing'> {
  return {
    crl: (signer, of) => {
      if (of === undefined) {
        removeCrl(metrics, signer);
        return;
      }
      metrics.crlNextUpdate.set({ signer }, of.nextUpdate);
      metrics.crlEntries.set({ signer }, of.entries);
    },
    crlFailing: (signer, isFailing) => {
      metrics.crlFailing.set({ signer }, isFailing ? 1 : 0);
    },
  };
}

function removeCrl({ crlNextUpdate, crlEntries, crlFailing }: Metrics, signer: string): void {
  for (const each of [crlNextUpdate, crlEntries, crlFailing]) each.remove({ signer });
}

function notificationMetrics(metrics: Metrics): NotificationMetrics {
  return {
    notified: (target, outcome) => metrics.notifications.inc({ target, outcome }),
    notificationsDropped: (target, reason, count) =>
      metrics.notificationsDropped.inc({ target, reason }, count),
    notificationTarget: (target, { pending, failingSince, isGone }) => {
      metrics.notificationsPending.set({ target }, pending);
      metrics.notificationsFailing.set({ target }, failingSince);
      metrics.notificationsGone.set({ target }, Number(isGone));
    },
  };
}

function ledgerMetrics(metrics: Metrics): LedgerMetrics {
  return {
    ledgerAppended: (sender, kind) => metrics.ledgerAppended.inc({ sender, kind }),
    ledgerRefused: (sender, code) => metrics.ledgerRefused.inc({ sender, code }),
    ledgerErased: (reason, count) => metrics.ledgerErased.inc({ reason }, count),
    ledgerHead: (log, entries, at) => {
      metrics.ledgerEntries.set({ log }, entries);
      metrics.ledgerCheckpoint.set({ log }, at);
    },
    ledgerPublished: (destination, { at, waitingSince = 0, contradicted = false }) => {
      // The series are there from the start: nobody can be told of one that never was.
      metrics.ledgerPublished.inc({ destination }, 0);
      if (at !== undefined) metrics.ledgerPublished.set({ destination }, at);
      metrics.ledgerUnpublished.set({ destination }, waitingSince);
      metrics.ledgerContradicted.set({ destination }, contradicted ? 1 : 0);
    },
    ledgerUnrecorded: (open, explained) => {
      metrics.ledgerUnrecorded.set(open);
      metrics.ledgerExplained.set(explained);
    },
  };
}

/** Counts a response of the API server, as client-go's dashboards expect it. */
export function countAnswer(metrics: Metrics, { method, status }: CallResult): void {
  metrics.calls.inc({ method, code: status === 0 ? '<error>' : String(status) });
}

/** Maps the counts of a queue to the `workqueue_*` series of client-go. */
export function queueMetrics(metrics: Metrics, name: string): QueueMetrics {
  return {
    added: () => metrics.queueAdds.inc({ name }),
    depth: (count) => metrics.queueDepth.set({ name }, count),
    waited: (seconds) => metrics.queueWait.observe({ name }, seconds),
  };
}
