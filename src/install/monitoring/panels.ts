// SPDX-License-Identifier: Apache-2.0
/**
 * Content of the Grafana dashboards. Each row answers one question.
 * `test/install/dashboards.test.ts` reads the queries.
 */

import { counterIncrease } from './counter-increase.ts';

export interface Panel {
  readonly title: string;
  /** The healthy state, and the remedy otherwise. */
  readonly description: string;
  /** Default: `timeseries`. */
  readonly kind?: 'stat' | 'timeseries' | 'bargauge';
  /** A unit of Grafana. Default: `short`, a plain number. */
  readonly unit?: 'short' | 's' | 'reqps' | 'percentunit' | 'bytes' | 'dateTimeFromNow';
  /** PromQL by the name of its series, in which Grafana replaces `{{label}}`. */
  readonly queries: Readonly<Record<string, string>>;
  /** Limit from which the panel is red, or `below` which it is. */
  readonly red?: number | { readonly below: number };
}

export interface Dashboard {
  /** Name of the file and, after `countersign-`, of the URL in Grafana. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

const DAY = 86_400;

const IS_IT_WELL: readonly Panel[] = [
  {
    title: 'Requests that wait',
    description:
      'Approved requests without an answer. More than 0 for minutes: `countersign explain` of one shows the cause.',
    kind: 'stat',
    red: 1,
    queries: {
      'for ten minutes or longer': 'sum(min_over_time(countersign_request_pending[10m]))',
    },
  },
  {
    title: 'Components without a leader',
    description: 'Components that no replica leads, or two do. Their loops rest until one does.',
    kind: 'stat',
    red: 1,
    queries: {
      components: 'count(sum by (namespace, component) (countersign_leader) != 1) or vector(0)',
    },
  },
  {
    title: 'Missing permissions',
    description: '/readyz of the component names them. Apply the roles again.',
    kind: 'stat',
    red: 1,
    queries: {
      permissions: 'sum(max by (namespace, component) (countersign_missing_permissions))',
    },
  },
  {
    title: 'Changed admission policies',
    description: 'Policies that guard less than `countersign rbac` prints. Apply them again.',
    kind: 'stat',
    red: 1,
    queries: {
      policies:
        'count(max by (policy) (countersign_admission_policy_differences) > 0) or vector(0)',
    },
  },
  {
    title: 'Foreign anchors, 24 hours',
    description: 'Anchors of other writers in a published bundle. Each was removed.',
    kind: 'stat',
    red: 1,
    queries: {
      anchors: `sum(${counterIncrease('countersign_trust_bundle_unexpected_anchors_total', '24h')}) or vector(0)`,
    },
  },
  {
    title: 'Trust targets that lag',
    kind: 'stat',
    red: 1,
    description: 'ConfigMaps and caBundles that lack what is published: their writes fail.',
    queries: { targets: 'sum(countersign_trust_targets_lagging) or vector(0)' },
  },
  {
    title: 'CRLs that fail',
    description: 'CRLs that cannot be signed or written. Read the Events of their signer.',
    kind: 'stat',
    red: 1,
    queries: { CRLs: 'sum(max by (signer) (countersign_crl_failing)) or vector(0)' },
  },
];

const REQUESTS: readonly Panel[] = [
  {
    title: 'Decisions',
    description: 'Requests decided each second, by outcome.',
    unit: 'reqps',
    queries: {
      '{{signer}} {{outcome}}':
        'sum by (signer, outcome) (rate(countersign_requests_total[$__rate_interval]))',
    },
  },
  {
    title: 'Not issued, by reason',
    description:
      'Requests that were denied or failed. A renewal that is denied ends a pod’s identity at the end of its leaf.',
    unit: 'reqps',
    queries: {
      '{{signer}} {{reason}}':
        'sum by (signer, reason) (rate(countersign_requests_total{outcome=~"denied|failed"}[$__rate_interval]))',
    },
  },
  {
    title: 'Time to the answer',
    description: 'From the creation of a request to the write of its result, 99th percentile.',
    unit: 's',
    queries: {
      '{{signer}}':
        'histogram_quantile(0.99, sum by (signer, le) (rate(countersign_request_duration_seconds_bucket[$__rate_interval])))',
    },
  },
  {
    title: 'Requests that wait, by signer',
    description: 'A short peak is a rollout; a plateau is a fault.',
    queries: {
      '{{component}} {{signer}}': 'sum by (component, signer) (countersign_request_pending)',
    },
  },
  {
    title: 'Key holders: away, and without the key of a signer',
    description: 'Requests of these components and signers wait until this is 0.',
    queries: {
      '{{component}}': '1 - min by (component) (countersign_key_holder_up)',
      '{{component}} {{signer}}':
        '1 - min by (component, signer) (countersign_key_holder_key_usable)',
    },
  },
  {
    title: 'Refused by key holders, by rule',
    description: 'Any value is a fault of the limits, or an attack on the component.',
    unit: 'reqps',
    queries: {
      '{{component}} {{reason}}':
        'sum by (component, reason) (rate(countersign_key_holder_refusals_total[$__rate_interval]))',
    },
  },
];

const WHAT_EXPIRES: readonly Panel[] = [
  {
    title: 'Leaves get their full life until',
    description:
      'After this, leaves end with their CA. A managed CA is replaced long before; what stays red waits for you.',
    kind: 'bargauge',
    unit: 's',
    red: { below: DAY },
    queries: {
      '{{signer}}': 'min by (signer) (countersign_ca_full_leaves_until_timestamp_seconds) - time()',
    },
  },
  {
    title: 'Certificates of upstream CAs: time left',
    description: 'Time left to install a certificate that an upstream CA must sign.',
    kind: 'bargauge',
    unit: 's',
    red: { below: 7 * DAY },
    queries: {
      '{{signer}}':
        'min by (signer) (countersign_ca_certificate_install_by_timestamp_seconds) - time()',
    },
  },
  {
    title: 'Certificates of upstream CAs: awaited and refused',
    description: 'Signers that await a certificate, and those whose installed chain is refused.',
    queries: {
      '{{signer}} awaited': 'max by (signer) (countersign_ca_certificate_awaited)',
      '{{signer}} refused': 'max by (signer) (countersign_ca_certificate_refused)',
    },
  },
  {
    title: 'First anchor to expire',
    description: 'Time left of each published bundle’s first anchor to expire.',
    kind: 'bargauge',
    unit: 's',
    red: { below: DAY },
    queries: {
      '{{signer}}':
        'min by (signer) (countersign_trust_bundle_not_after_timestamp_seconds) - time()',
    },
  },
  {
    title: 'Certificates of the components’ own ports',
    description: 'Time left. 0 and below: the port has none.',
    kind: 'bargauge',
    unit: 's',
    red: { below: DAY },
    queries: {
      '{{component}}':
        'min by (component) (countersign_serving_certificate_not_after_timestamp_seconds > 0) - time()',
    },
  },
  {
    title: 'First certificates to expire',
    description:
      'Time left of the ten owners whose certificate expires first. Those of pods that are gone end here, too: a fall to 0 is only bad beside a refused renewal.',
    kind: 'bargauge',
    unit: 's',
    queries: {
      '{{owner_namespace}}/{{owner}} {{signer}}':
        'bottomk(10, min by (signer, owner_namespace, owner) (countersign_certificate_soonest_expiry_timestamp_seconds) - time())',
    },
  },
  {
    title: 'Refused renewals',
    description:
      'Time left of certificates whose renewal was denied or failed. The Event on the pod shows the cause.',
    kind: 'bargauge',
    unit: 's',
    red: { below: DAY },
    queries: {
      '{{owner_namespace}}/{{owner}} {{signer}}':
        'min by (signer, owner_namespace, owner) (countersign_renewal_refused_expiry_timestamp_seconds) - time() > 0',
    },
  },
  {
    title: 'CAs by rotation phase',
    description: 'Next, Active, Retiring and Distrusted CAs of each signer.',
    queries: { '{{signer}} {{phase}}': 'max by (signer, phase) (countersign_ca_rotation_phase)' },
  },
];

const PROCESSES: readonly Panel[] = [
  {
    title: 'Event loop, 99th percentile',
    description: 'How late the process polled its sockets. Two samples are 0.1 s apart.',
    unit: 's',
    red: 0.1,
    queries: {
      // A sample includes the time since the last one.
      '{{component}}':
        'max by (component) (clamp_min(nodejs_eventloop_lag_p99_seconds{component!=""} - 0.1, 0))',
    },
  },
  {
    title: 'Memory',
    description: 'Resident memory of each process.',
    unit: 'bytes',
    queries: {
      '{{component}}':
        'max by (component) (process_resident_memory_bytes * on (component, instance) group_left () countersign_build_info)',
    },
  },
  {
    title: 'Clock, ahead of the API server’s',
    description: 'More than seconds apart: leaves begin too late or end too early.',
    unit: 's',
    queries: { '{{component}}': 'max by (component) (countersign_clock_offset_seconds)' },
  },
  {
    title: 'Calls to the API server',
    description: 'By status code; `<error>` had no response.',
    unit: 'reqps',
    queries: {
      '{{component}} {{code}}':
        'sum by (component, code) (rate(rest_client_requests_total{component!=""}[$__rate_interval]))',
    },
  },
  {
    title: 'Watches that were reconnected',
    description: 'A steady rate is usual: the API server ends watches after minutes.',
    unit: 'reqps',
    queries: {
      '{{component}} {{reason}}':
        'sum by (component, reason) (rate(countersign_watch_restarts_total[$__rate_interval]))',
    },
  },
  {
    title: 'Work queue: keys that wait',
    description: 'A growing queue is not keeping up.',
    queries: {
      '{{component}} {{name}}': 'sum by (component, name) (workqueue_depth{component!=""})',
    },
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
