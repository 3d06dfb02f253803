// SPDX-License-Identifier: Apache-2.0
/** Dashboards of the components that are off by default: empty where they do not run. */
import { grown } from './grown.ts';
import type { Dashboard, Panel } from './panels.ts';

const ACME: readonly Panel[] = [
  {
    title: 'Orders by state',
    description: 'An Order that stays in one state says why in its status.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [{ expr: 'max by (state) (countersign_acme_orders)', legend: '{{state}}' }],
  },
  {
    title: 'Challenges by state',
    description: 'At most 60 are processed at once.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [{ expr: 'max by (state) (countersign_acme_challenges)', legend: '{{state}}' }],
  },
  {
    title: 'Calls to ACME servers',
    description: 'By HTTP status, or the cause of none.',
    ...{ kind: 'timeseries', unit: 'reqps' },
    queries: [
      {
        expr: 'sum by (endpoint, status) (rate(countersign_acme_calls_total[$__rate_interval]))',
        legend: '{{endpoint}} {{status}}',
      },
    ],
  },
  {
    title: 'Told to wait by ACME servers',
    description: 'Seconds of waiting for rate limits, each second.',
    ...{ kind: 'timeseries', unit: 'percentunit' },
    queries: [
      {
        expr: 'sum(rate(countersign_acme_rate_limit_wait_seconds_total[$__rate_interval]))',
        legend: 'waiting',
      },
    ],
  },
  {
    title: 'Self-checks',
    description: '95th percentile of the time that one look at a record or file takes.',
    ...{ kind: 'timeseries', unit: 's' },
    queries: [
      {
        expr: 'histogram_quantile(0.95, sum by (type, le) (rate(countersign_acme_self_check_seconds_bucket[$__rate_interval])))',
        legend: '{{type}}',
      },
    ],
  },
  {
    title: 'Renewals',
    description: 'Overdue ones should have been renewed already.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [{ expr: 'max by (state) (countersign_acme_renewals)', legend: '{{state}}' }],
  },
];

const LEDGER: readonly Panel[] = [
  {
    title: 'Records appended',
    description: 'By the component that sent them.',
    ...{ kind: 'timeseries', unit: 'reqps' },
    queries: [
      {
        expr: 'sum by (sender) (rate(countersign_ledger_appended_total[$__rate_interval]))',
        legend: '{{sender}}',
      },
    ],
  },
  {
    title: 'Records that wait',
    description: 'In `required` mode no request is answered before its record is kept.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [
      {
        expr: 'sum by (component) (countersign_ledger_waiting_records)',
        legend: '{{component}}',
      },
    ],
  },
  {
    title: 'Records lost',
    description: 'In `best-effort` mode: what the ledger does not have and will not get.',
    ...{ kind: 'stat', unit: 'short', red: 1 },
    queries: [{ expr: 'sum(countersign_ledger_lost_records)', legend: 'records' }],
  },
  {
    title: 'Components without the ledger',
    description: '1 while the last batch of records did not reach it.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [{ expr: 'max by (component) (countersign_ledger_failing)', legend: '{{component}}' }],
  },
  {
    title: 'Certificates without a record',
    description: 'Of our CAs, in the cluster, and unknown to the ledger: a key may be stolen.',
    ...{ kind: 'stat', unit: 'short', red: 1 },
    queries: [{ expr: 'max(countersign_ledger_unrecorded_certificates)', legend: 'certificates' }],
  },
  {
    title: 'Checkpoints outside the cluster',
    description: 'For how long a webhook, an object store or a witness has lacked one.',
    ...{ kind: 'timeseries', unit: 's' },
    queries: [
      {
        expr: 'time() - (max by (destination) (countersign_ledger_checkpoint_unpublished_since_timestamp_seconds) > 0)',
        legend: '{{destination}}',
      },
      {
        expr: 'max by (destination) (countersign_ledger_checkpoint_contradicted) > 0',
        legend: '{{destination}} contradicts',
      },
    ],
  },
  {
    title: 'Age of the last checkpoint',
    description: 'A log that does not grow signs none.',
    ...{ kind: 'timeseries', unit: 's' },
    queries: [
      {
        expr: 'time() - max by (log) (countersign_ledger_checkpoint_timestamp_seconds > 0)',
        legend: '{{log}}',
      },
    ],
  },
];

const RESTARTS: readonly Panel[] = [
  {
    title: 'Workloads that opted in',
    description: 'By what the last pass made of them.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [{ expr: 'max by (state) (countersign_refresh_workloads)', legend: '{{state}}' }],
  },
  {
    title: 'Restarts and evictions, an hour',
    description: 'Refused ones were refused by the API server: its message is in the log.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [
      {
        expr: `sum by (outcome) (${grown('countersign_refresh_restarts_total', '1h')})`,
        legend: 'restart {{outcome}}',
      },
      {
        expr: `sum by (outcome) (${grown('countersign_refresh_evictions_total', '1h')})`,
        legend: 'eviction {{outcome}}',
      },
    ],
  },
];

const FEDERATION: readonly Panel[] = [
  {
    title: 'CAs of foreign trust domains',
    description: '0: there is no bundle, and nobody trusts its SVIDs.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [
      {
        expr: 'max by (trust_domain) (countersign_federation_anchors)',
        legend: '{{trust_domain}}',
      },
    ],
  },
  {
    title: 'Age of what foreign endpoints said',
    description: 'Since the last good answer. At `--keep` the bundle is dropped.',
    ...{ kind: 'timeseries', unit: 's' },
    queries: [
      {
        expr: 'time() - (max by (trust_domain) (countersign_federation_confirmed_timestamp_seconds) > 0)',
        legend: '{{trust_domain}}',
      },
    ],
  },
  {
    title: 'Looks at foreign bundles, an hour',
    description: 'By what came of them; the how-to explains each outcome.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [
      {
        expr: `sum by (trust_domain, outcome) (${grown('countersign_federation_looks_total', '1h')})`,
        legend: '{{trust_domain}} {{outcome}}',
      },
    ],
  },
];

const NOTIFICATIONS: readonly Panel[] = [
  {
    title: 'Notifications that wait',
    description: 'By target of notifier, and for how long a target has taken none.',
    ...{ kind: 'timeseries', unit: 'short' },
    queries: [
      { expr: 'sum by (target) (countersign_notifications_pending)', legend: '{{target}}' },
      {
        expr: 'time() - (max by (target) (countersign_notifications_failing_since_timestamp_seconds) > 0)',
        legend: '{{target}}: seconds without an answer',
      },
      {
        expr: `sum by (target) (${grown('countersign_notifications_dropped_total', '1h')})`,
        legend: '{{target}}: dropped',
      },
    ],
  },
];

export const OPTIONAL_COMPONENTS: Dashboard = {
  name: 'optional-components',
  title: 'Countersign: ACME, ledger, restarts',
  rows: [
    { title: 'ACME', panels: ACME },
    { title: 'Ledger', panels: LEDGER },
    { title: 'Restarts on renewal', panels: RESTARTS },
    { title: 'Foreign trust domains', panels: FEDERATION },
    { title: 'Notifications', panels: NOTIFICATIONS },
  ],
};
