// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { acmeSeries, type AcmeSeries } from './acme-series.ts';
import { ledgerSeries, type LedgerSeries } from './ledger-series.ts';
import {
  notificationSeries,
  refreshSeries,
  type NotificationSeries,
  type RefreshSeries,
} from './refresh-series.ts';
import { callSeries, type CallSeries } from './client-series.ts';
import {
  federationSeries,
  trustSeries,
  type FederationSeries,
  type TrustSeries,
} from './trust-series.ts';

/**
 * The metrics of one component. Label values are fixed, small sets: never a name from a request, but for the owners of
 * certificates, of whom `runtime/issuing/expiries.ts` names a fixed number.
 */
export interface Metrics
  extends
    TrustSeries,
    FederationSeries,
    CallSeries,
    AcmeSeries,
    RefreshSeries,
    LedgerSeries,
    NotificationSeries {
  readonly registry: Registry;
  /** Runs `update` before each scrape, for gauges that are computed then. */
  readonly onScrape: (update: () => void) => void;
  readonly requests: Counter<'kind' | 'signer' | 'outcome' | 'reason'>;
  readonly requestDuration: Histogram<'kind' | 'signer'>;
  readonly requestPending: Gauge<'kind' | 'signer'>;
  readonly podNamesOutdated: Gauge<'signer' | 'since'>;
  readonly certificateExpiry: Gauge<OwnerLabel>;
  readonly refusedExpiry: Gauge<OwnerLabel>;
  readonly watchRestarts: Counter<'resource' | 'reason'>;
  readonly watchLastEvent: Gauge<'resource' | 'selector'>;
  readonly missingPermissions: Gauge;
  readonly admissionDifferences: Gauge<'policy'>;
  readonly challengeResponses: Counter<'code'>;
  readonly servingNotAfter: Gauge;
  readonly inFlightLimit: Gauge;
  readonly clockOffset: Gauge;
  readonly queueDepth: Gauge<'name'>;
  readonly queueAdds: Counter<'name'>;
  readonly queueWait: Histogram<'name'>;
  readonly queueWork: Histogram<'name'>;
  readonly queueRetries: Counter<'name'>;
  readonly queueUnfinished: Gauge<'name'>;
  readonly queueLongest: Gauge<'name'>;
}

/** Prometheus names the scraped pod's namespace `namespace`. */
const OWNER_LABELS = ['signer', 'owner_namespace', 'owner'] as const;
type OwnerLabel = (typeof OWNER_LABELS)[number];

/** Seconds: from one status write to an outage of the signer that a kubelet still tolerates. */
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];
const QUEUE_BUCKETS = [0.0001, 0.001, 0.01, 0.1, 1, 10, 60];

export function createMetrics(component: string, version: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ component });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const updates: (() => void)[] = [];
  const info = new Gauge({
    name: 'countersign_build_info',
    help: 'Always 1; the label has the version that runs.',
    labelNames: ['version'],
    registers,
    // A registry collects in the order of creation: all metrics below are read after this.
    collect: () => {
      for (const update of updates) update();
    },
  });
  info.set({ version }, 1);
  return {
    registry,
    onScrape: (update) => {
      updates.push(update);
    },
    ...requestSeries(registers),
    ...expirySeries(registers),
    ...processSeries(registers),
    ...callSeries(registers),
    ...trustSeries(registers),
    ...federationSeries(registers),
    ...acmeSeries(registers),
    ...refreshSeries(registers),
    ...ledgerSeries(registers),
    ...notificationSeries(registers),
    ...queueSeries(registers),
  };
}

function requestSeries(
  registers: Registry[],
): Pick<
  Metrics,
  | 'requests'
  | 'requestDuration'
  | 'requestPending'
  | 'podNamesOutdated'
  | 'watchRestarts'
  | 'watchLastEvent'
> {
  return {
    requests: new Counter({
      name: 'countersign_requests_total',
      help: 'Requests decided, by outcome.',
      labelNames: ['kind', 'signer', 'outcome', 'reason'],
      registers,
    }),
    requestDuration: new Histogram({
      name: 'countersign_request_duration_seconds',
      help: 'Time from the creation of a request to the write of its result.',
      labelNames: ['kind', 'signer'],
      buckets: REQUEST_BUCKETS,
      registers,
    }),
    requestPending: new Gauge({
      name: 'countersign_request_pending',
      help: 'Requests that still need this component.',
      labelNames: ['kind', 'signer'],
      registers,
    }),
    podNamesOutdated: new Gauge({
      name: 'countersign_pod_names_outdated',
      help: 'Leaves with a name of a Service that is no longer theirs: of those that the ledger knows (since="ledger"), or of those delivered since the start (since="start").',
      labelNames: ['signer', 'since'],
      registers,
    }),
    watchRestarts: new Counter({
      name: 'countersign_watch_restarts_total',
      help: 'Watches that closed and were reconnected.',
      labelNames: ['resource', 'reason'],
      registers,
    }),
    watchLastEvent: new Gauge({
      name: 'countersign_watch_last_event_timestamp_seconds',
      help: 'Time of the last event on the watch; bookmarks arrive every minute.',
      // A resource has a watch for each signer name, Secret or bundle: a live one hides no dead one.
      labelNames: ['resource', 'selector'],
      registers,
    }),
  };
}

function expirySeries(registers: Registry[]): Pick<Metrics, 'certificateExpiry' | 'refusedExpiry'> {
  return {
    certificateExpiry: new Gauge({
      name: 'countersign_certificate_soonest_expiry_timestamp_seconds',
      help: 'When the first certificate of an owner expires, of those that were not renewed.',
      labelNames: OWNER_LABELS,
      registers,
    }),
    refusedExpiry: new Gauge({
      name: 'countersign_renewal_refused_expiry_timestamp_seconds',
      help: 'When the first certificate expires whose renewal was denied or failed.',
      labelNames: OWNER_LABELS,
      registers,
    }),
  };
}

function processSeries(
  registers: Registry[],
): Pick<
  Metrics,
  | 'challengeResponses'
  | 'servingNotAfter'
  | 'clockOffset'
  | 'inFlightLimit'
  | 'missingPermissions'
  | 'admissionDifferences'
> {
  return {
    challengeResponses: new Counter({
      name: 'countersign_acme_challenge_responses_total',
      help: 'Responses to requests for files of HTTP-01, by HTTP status.',
      labelNames: ['code'],
      registers,
    }),
    servingNotAfter: new Gauge({
      name: 'countersign_serving_certificate_not_after_timestamp_seconds',
      help: 'When the certificate of this component’s HTTPS port expires; 0 if there is none.',
      registers,
    }),
    clockOffset: new Gauge({
      name: 'countersign_clock_offset_seconds',
      help: 'How far the local clock is ahead of the API server’s, by the Date header of its responses.',
      registers,
    }),
    inFlightLimit: new Gauge({
      name: 'countersign_in_flight_limit',
      help: 'Current concurrency limit: objects processed at once. Status 429 and slow responses lower it.',
      registers,
    }),
    missingPermissions: new Gauge({
      name: 'countersign_missing_rights',
      help: 'Permissions that this component needs and does not have.',
      registers,
    }),
    admissionDifferences: new Gauge({
      name: 'countersign_admission_policy_differences',
      help: 'Differences of an admission policy from what countersign rbac prints.',
      labelNames: ['policy'],
      registers,
    }),
  };
}

function queueSeries(
  registers: Registry[],
): Pick<Metrics, Extract<keyof Metrics, `queue${string}`>> {
  const labelNames = ['name'] as const;
  return {
    queueDepth: new Gauge({
      name: 'workqueue_depth',
      help: 'Keys in the workqueue that wait for a worker.',
      labelNames,
      registers,
    }),
    queueAdds: new Counter({
      name: 'workqueue_adds_total',
      help: 'Keys added to the workqueue.',
      labelNames,
      registers,
    }),
    queueWait: new Histogram({
      name: 'workqueue_queue_duration_seconds',
      help: 'How long a key waited for a worker.',
      labelNames,
      buckets: QUEUE_BUCKETS,
      registers,
    }),
    queueWork: new Histogram({
      name: 'workqueue_work_duration_seconds',
      help: 'How long a worker processed a key.',
      labelNames,
      buckets: QUEUE_BUCKETS,
      registers,
    }),
    queueRetries: new Counter({
      name: 'workqueue_retries_total',
      help: 'Keys requeued after a failure.',
      labelNames,
      registers,
    }),
    queueUnfinished: new Gauge({
      name: 'workqueue_unfinished_work_seconds',
      help: 'Sum of the processing times so far of all keys in progress.',
      labelNames,
      registers,
    }),
    queueLongest: new Gauge({
      name: 'workqueue_longest_running_processor_seconds',
      help: 'Processing time so far of the longest-running key in progress.',
      labelNames,
      registers,
    }),
  };
}
