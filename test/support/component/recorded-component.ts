// SPDX-License-Identifier: Apache-2.0
import { SINGLE_REPLICA } from '../../../src/kube/lease/shard-filter.ts';
import type { EventDetails } from '../../../src/kube/events/body.ts';
import type { Component } from '../../../src/runtime/component/component.ts';
import { NOW, random } from '../authorities/issuing.ts';
import { recordedClient, type RecordedClient } from '../kube/recorded-client.ts';
import { recordedLog, type LogLine } from './recorded-log.ts';

/** A component whose every word can be read. */
export interface RecordedComponent extends Component {
  readonly client: RecordedClient;
  readonly log: Component['log'] & { readonly lines: readonly LogLine[] };
  /** Events that were told. */
  readonly notes: readonly EventDetails[];
  /** The metric and what it was given. */
  readonly counted: readonly (readonly unknown[])[];
}

/** Its clock stands still; `more` replaces parts. */
export function recordedComponent(more: Partial<Component> = {}): RecordedComponent {
  const notes: EventDetails[] = [];
  const counted: (readonly unknown[])[] = [];
  const count =
    (name: string) =>
    (...given: readonly unknown[]): void => {
      counted.push([name, ...given]);
    };
  const component = {
    name: 'signer',
    client: recordedClient(),
    clock: () => NOW,
    monotonic: () => NOW,
    random,
    serving: { report: () => undefined, retract: () => undefined },
    log: recordedLog(),
    events: {
      record: (note: EventDetails) => notes.push(note),
      recordOnce: (note: EventDetails) => Promise.resolve(void notes.push(note)),
      flush: () => Promise.resolve(),
    },
    metrics: {
      watchRestart: count('watchRestart'),
      watchEvent: () => undefined,
      watchStopped: () => undefined,
      worked: count('worked'),
      retried: count('retried'),
      outcome: count('outcome'),
      duration: count('duration'),
      pending: count('pending'),
      podNamesOutdated: count('podNamesOutdated'),
      expiries: count('expiries'),
      foreignBundles: count('foreignBundles'),
      strangerAnchor: count('strangerAnchor'),
      trustTarget: count('trustTarget'),
      trustTargetsLagging: count('trustTargetsLagging'),
      federated: count('federated'),
      federatedState: count('federatedState'),
      authorityNotAfter: count('authorityNotAfter'),
      authorityFullLeaves: count('authorityFullLeaves'),
      authorityPhase: count('authorityPhase'),
      bundle: count('bundle'),
      crl: count('crl'),
      crlFailing: count('crlFailing'),
      unserved: count('unserved'),
      acmeCall: count('acmeCall'),
      acmeOrders: count('acmeOrders'),
      acmeChallenges: count('acmeChallenges'),
      acmeSelfCheck: count('acmeSelfCheck'),
      acmeRateLimited: count('acmeRateLimited'),
      acmeRenewals: count('acmeRenewals'),
      acmeNextRenewal: count('acmeNextRenewal'),
      refreshed: count('refreshed'),
      ledgerAppended: count('ledgerAppended'),
      ledgerRefused: count('ledgerRefused'),
      ledgerErased: count('ledgerErased'),
      ledgerHead: count('ledgerHead'),
      ledgerPublished: count('ledgerPublished'),
      notified: count('notified'),
      notificationsDropped: count('notificationsDropped'),
      notificationTarget: count('notificationTarget'),
      ledgerUnrecorded: count('ledgerUnrecorded'),
      restarted: count('restarted'),
      evicted: count('evicted'),
    },
    queue: { charge: () => undefined },
    shard: SINGLE_REPLICA,
    leases: undefined,
    secretNamespace: 'countersign-keys',
    namespacedSigners: false,
    missingPermissions: () => Promise.resolve([]),
    reservedPrefixes: [],
    propagationSeconds: 600,
    ...more,
  };
  return { ...component, notes, counted } as unknown as RecordedComponent;
}
