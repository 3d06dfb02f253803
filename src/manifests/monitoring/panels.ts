// SPDX-License-Identifier: Apache-2.0
/** What the Grafana dashboards show: each row answers one question. `test/manifests/dashboards.test.ts` reads the queries. */

import { grown } from './grown.ts';

/** A query and what to call its series: Grafana replaces `{{label}}`. */
export interface PanelQuery {
  readonly expr: string;
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** What a reader should see, and what to do if it is not so. */
  readonly description: string;
  readonly kind: 'stat' | 'timeseries' | 'bargauge';
  /** A unit of Grafana. */
  readonly unit: 'short' | 's' | 'reqps' | 'percentunit' | 'bytes' | 'dateTimeFromNow';
  readonly queries: readonly PanelQuery[];
  /** From here on the panel is red; `below`: under it. */
  readonly red?: number | { readonly below: number };
}

export interface Dashboard {
  /** Of the file and, after `countersign-`, of the URL in Grafana. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

const DAY = 86_400;

const IS_IT_WELL: readonly Panel[] = [
  {
    title: 'Requests that wait',
    description:
      'Approved requests without an answer. More than 0 for minutes: `countersign explain` of one says why.',
    ...{ kind: 'stat', unit: 'short', red: 1 },
    queries: [
      {
        expr: 'sum(min_over_time(countersign_request_pending[10m]))',
        legend: 'for ten minutes or longer',
      },
    ],
  },
  {
    title: 'Components without a leader',
    description: 'Components that no replica leads, or two do. Their loops rest until one does.',
    ...{ kind: 'stat', unit: 'short', red: 1 },
    queries: [
      {
        expr: 'count(sum by (namespace, component) (countersign_leader) != 1) or vector(0)',
        legend: 'components',
      },
    ],
  },
  {
    title: 'Missing permissions',
    description: '/readyz of the component names them. Apply the roles again.',
    ...{ kind: 'stat', unit: 'short', red: 1 },
    queries: [
      {
        expr: 'sum(max by (namespace, component) (countersign_missing_rights))',
        legend: 'permissions',
      },
    ],
  },
  {
    title: 'Changed admission policies',
    description: 'Policies that guard less than `countersign rbac` prints. Apply them again.',
    ...{ kind: 'stat', unit: 'short', red: 1 },
    queries: [
      {
        expr: 'count(max by (policy) (countersign_admission_policy_differences) > 0) or vector(0)',
        legend: 'policies',
      },
    ],
  },
  {
    title: 'Foreign anchors, 24 hours',
    description: 'Anchors that somebody else wrote into a published bundle; each was removed.',
    ...{ kind: 'stat', unit: 'short', red: 1 },
    queries: [
      {
        expr: `sum(${grown('countersign_trust_bundle_stranger_anchors_total', '24h')}) or vector(0)`,
        legend: 'anchors',
      },
    ],
  },
  {
    ...{ title: 'Trust targets that lag', kind: 'stat', unit: 'short', red: 1 },
    description: 'ConfigMaps and caBundles that lack what is published: their writes fail.',
    queries: [{ expr: 'sum(countersign_trust_targets_lagging) or vector(0)', legend: 'targets' }],
  },
  {
    title: 'CRLs that fail',
    description: 'CRLs that cannot be signed or written. Read the Events of their signer.',
    ...{ kind: 'stat', unit: 'short', red: 1 },
    queries: [
      { expr: 'sum(max by (signer) (countersign_crl_failing)) or vector(0)', legend: 'CRLs' },
    ],
  },
];

const REQUESTS: readonly Panel[] = [
  {
    title: 'Decisions',
    description: 'Requests decided each second, by outcome.',
    ...{ kind: 'timeseries', unit: 'reqps' },
    queries: [
      {
        expr: 'sum by (signer, outcome) (rate(countersign_requests_total[$__rate_interval]))',
        legend: '{{signer}} {{outcome}}',
      },
    ],
  },
  {
    title: 'Not issued, by reason',
    description:
      'Requests that were denied or failed. A renewal that is denied ends a pod’s identity at the end of its leaf.',
    ...{ kind: 'timeseries', unit: 'reqps' },
    queries: [
      {
        expr: 'sum by (signer, reason) (rate(countersign_requests_total{outcome=~"denied|failed"}[$__rate_interval]))',
        legend: '{{signer}} {{reason}}',
      },
    ],
  },
  {
    title: 'Time to the answer',
    description: 'From the creation of a request to the write of its result, 99th percentile.',
    ...{ kind: 'timeseries', unit: 's' },
    queries: [
      {
        expr: 'histogram_quantile(0.99, sum by (signer, le) (rate(countersign_request_duration_seconds_bucket[$__rate_interval])))',
        legend: '{{signer}}',
      },
    ],
  },
  {
    title: 'Requests that wait, by signer',
    description: 'A short peak is a rollout; a plateau is a fault.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [
      {
        expr: 'sum by (component, signer) (countersign_request_pending)',
        legend: '{{component}} {{signer}}',
      },
    ],
  },
];

const WHAT_EXPIRES: readonly Panel[] = [
  {
    title: 'Leaves get their full life until',
    description:
      'After this, leaves end with their CA. A managed CA is replaced long before; what stays red waits for you.',
    ...{ kind: 'bargauge', unit: 's', red: { below: DAY } },
    queries: [
      {
        expr: 'min by (signer) (countersign_ca_full_leaves_until_timestamp_seconds) - time()',
        legend: '{{signer}}',
      },
    ],
  },
  {
    title: 'First anchor to expire',
    description: 'Time left of each published bundle’s first anchor to expire.',
    ...{ kind: 'bargauge', unit: 's', red: { below: DAY } },
    queries: [
      {
        expr: 'min by (signer) (countersign_trust_bundle_not_after_timestamp_seconds) - time()',
        legend: '{{signer}}',
      },
    ],
  },
  {
    title: 'Certificates of the components’ own ports',
    description: 'Time left. 0 and below: the port has none.',
    ...{ kind: 'bargauge', unit: 's', red: { below: DAY } },
    queries: [
      {
        expr: 'min by (component) (countersign_serving_certificate_not_after_timestamp_seconds > 0) - time()',
        legend: '{{component}}',
      },
    ],
  },
  {
    title: 'First certificates to expire',
    description:
      'Time left of the ten owners whose certificate expires first. Those of pods that are gone end here, too: a fall to 0 is only bad beside a refused renewal.',
    ...{ kind: 'bargauge', unit: 's' },
    queries: [
      {
        expr: 'bottomk(10, min by (signer, owner_namespace, owner) (countersign_certificate_soonest_expiry_timestamp_seconds) - time())',
        legend: '{{owner_namespace}}/{{owner}} {{signer}}',
      },
    ],
  },
  {
    title: 'Refused renewals',
    description:
      'Time left of certificates whose renewal was denied or failed. The Event on the pod says why.',
    ...{ kind: 'bargauge', unit: 's', red: { below: DAY } },
    queries: [
      {
        expr: 'min by (signer, owner_namespace, owner) (countersign_renewal_refused_expiry_timestamp_seconds) - time() > 0',
        legend: '{{owner_namespace}}/{{owner}} {{signer}}',
      },
    ],
  },
  {
    title: 'CAs by rotation phase',
    description: 'Next, Active, Retiring and Distrusted CAs of each signer.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [
      {
        expr: 'max by (signer, phase) (countersign_ca_rotation_phase)',
        legend: '{{signer}} {{phase}}',
      },
    ],
  },
];

const PROCESSES: readonly Panel[] = [
  {
    title: 'Event loop, 99th percentile',
    description: 'How long the process could not look at its sockets.',
    ...{ kind: 'timeseries', unit: 's', red: 0.1 },
    queries: [
      {
        expr: 'max by (component) (nodejs_eventloop_lag_p99_seconds{component!=""})',
        legend: '{{component}}',
      },
    ],
  },
  {
    title: 'Memory',
    description: 'Resident memory of each process.',
    ...{ kind: 'timeseries', unit: 'bytes' },
    queries: [
      {
        expr: 'max by (component) (process_resident_memory_bytes * on (component, instance) group_left () countersign_build_info)',
        legend: '{{component}}',
      },
    ],
  },
  {
    title: 'Clock, ahead of the API server’s',
    description: 'More than seconds apart: leaves begin too late or end too early.',
    ...{ kind: 'timeseries', unit: 's' },
    queries: [
      { expr: 'max by (component) (countersign_clock_offset_seconds)', legend: '{{component}}' },
    ],
  },
  {
    title: 'Calls to the API server',
    description: 'By status code; `<error>` had no response.',
    ...{ kind: 'timeseries', unit: 'reqps' },
    queries: [
      {
        expr: 'sum by (component, code) (rate(rest_client_requests_total{component!=""}[$__rate_interval]))',
        legend: '{{component}} {{code}}',
      },
    ],
  },
  {
    title: 'Watches that were reconnected',
    description: 'A steady rate is usual: the API server ends watches after minutes.',
    ...{ kind: 'timeseries', unit: 'reqps' },
    queries: [
      {
        expr: 'sum by (component, reason) (rate(countersign_watch_restarts_total[$__rate_interval]))',
        legend: '{{component}} {{reason}}',
      },
    ],
  },
  {
    title: 'Work queue: keys that wait',
    description: 'What grows is not keeping up.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [
      {
        expr: 'sum by (component, name) (workqueue_depth{component!=""})',
        legend: '{{component}} {{name}}',
      },
    ],
  },
];

export const OVERVIEW: Dashboard = {
  name: 'overview',
  title: 'Countersign',
  rows: [
    { title: 'Is it well?', panels: IS_IT_WELL },
    { title: 'Requests', panels: REQUESTS },
    { title: 'What expires next?', panels: WHAT_EXPIRES },
    { title: 'Components', panels: PROCESSES },
  ],
};
