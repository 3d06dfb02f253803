// SPDX-License-Identifier: Apache-2.0
/** Dashboards of the components that are off by default. They are empty while these do not run. */
import { counterIncrease } from './counter-increase.ts';
import type { Dashboard, Panel } from './panels.ts';

const ACME: readonly Panel[] = [
  {
    title: 'Orders by state',
    description: 'The status of an Order that stays in one state shows the cause.',
    queries: { '{{state}}': 'max by (state) (countersign_acme_orders)' },
  },
  {
    title: 'Challenges by state',
    description: 'At most 60 are processed at once.',
    queries: { '{{state}}': 'max by (state) (countersign_acme_challenges)' },
  },
  {
    title: 'Calls to ACME servers',
    description: 'By HTTP status, or the cause of none.',
    unit: 'reqps',
    queries: {
      '{{endpoint}} {{status}}':
        'sum by (endpoint, status) (rate(countersign_acme_calls_total[$__rate_interval]))',
    },
  },
  {
    title: 'Rate limits of ACME servers',
    description: 'Seconds of waiting for rate limits, each second.',
    unit: 'percentunit',
    queries: {
      waiting: 'sum(rate(countersign_acme_rate_limit_wait_seconds_total[$__rate_interval]))',
    },
  },
  {
    title: 'Self-checks',
    description: '95th percentile of the time of one check of a record or file.',
    unit: 's',
    queries: {
      '{{type}}':
        'histogram_quantile(0.95, sum by (type, le) (rate(countersign_acme_self_check_seconds_bucket[$__rate_interval])))',
    },
  },
  {
    title: 'Renewals',
    description: 'Overdue ones should have been renewed already.',
    queries: { '{{state}}': 'max by (state) (countersign_acme_renewals)' },
  },
];

const LEDGER: readonly Panel[] = [
  {
    title: 'Records appended',
    description: 'By the component that sent them.',
    unit: 'reqps',
    queries: {
      '{{sender}}': 'sum by (sender) (rate(countersign_ledger_appended_total[$__rate_interval]))',
    },
  },
  {
    title: 'Records that wait',
    description: 'In `required` mode no request is answered before its record is kept.',
    queries: { '{{component}}': 'sum by (component) (countersign_ledger_waiting_records)' },
  },
  {
    title: 'Records lost',
    description: 'In `best-effort` mode: records that the ledger does not have and will not get.',
    kind: 'stat',
    red: 1,
    queries: { records: 'sum(countersign_ledger_lost_records)' },
  },
  {
    title: 'Components without the ledger',
    description: '1 while the last batch of records did not reach it.',
    queries: { '{{component}}': 'max by (component) (countersign_ledger_failing)' },
  },
  {
    title: 'Certificates without a record',
    description:
      'Certificates of this installation that the ledger does not know: a key may be stolen.',
    kind: 'stat',
    red: 1,
    queries: { certificates: 'max(countersign_ledger_unrecorded_certificates)' },
  },
  {
    title: 'Checkpoints outside the cluster',
    description: 'For how long a webhook, an object store or a witness has lacked one.',
    unit: 's',
    queries: {
      '{{destination}}':
        'time() - (max by (destination) (countersign_ledger_checkpoint_unpublished_since_timestamp_seconds) > 0)',
      '{{destination}} contradicts':
        'max by (destination) (countersign_ledger_checkpoint_contradicted) > 0',
    },
  },
  {
    title: 'Age of the last checkpoint',
    description: 'A log that does not grow signs none.',
    unit: 's',
    queries: {
      '{{log}}': 'time() - max by (log) (countersign_ledger_checkpoint_timestamp_seconds > 0)',
    },
  },
];

const RESTARTS: readonly Panel[] = [
  {
    title: 'Workloads that opted in',
    description: 'By the result of the last pass.',
    queries: { '{{state}}': 'max by (state) (countersign_refresh_workloads)' },
  },
  {
    title: 'Restarts and evictions, an hour',
    description: 'The API server rejected refused ones: its message is in the log.',
    queries: {
      'restart {{outcome}}': `sum by (outcome) (${counterIncrease('countersign_refresh_restarts_total', '1h')})`,
      'eviction {{outcome}}': `sum by (outcome) (${counterIncrease('countersign_refresh_evictions_total', '1h')})`,
    },
  },
];

const FEDERATION: readonly Panel[] = [
  {
    title: 'CAs of foreign trust domains',
    description: '0: there is no bundle, and its SVIDs are not trusted.',
    queries: { '{{trust_domain}}': 'max by (trust_domain) (countersign_federation_anchors)' },
  },
  {
    title: 'Age of foreign bundles',
    description: 'Since the last good answer. At `--keep` the bundle is dropped.',
    unit: 's',
    queries: {
      '{{trust_domain}}':
        'time() - (max by (trust_domain) (countersign_federation_confirmed_timestamp_seconds) > 0)',
    },
  },
  {
    title: 'Fetches of foreign bundles, an hour',
    description: 'By outcome, each of which the how-to explains.',
    queries: {
      '{{trust_domain}} {{outcome}}': `sum by (trust_domain, outcome) (${counterIncrease('countersign_federation_fetches_total', '1h')})`,
    },
  },
];

const NOTIFICATIONS: readonly Panel[] = [
  {
    title: 'Notifications that wait',
    description: 'By target of notifier, and for how long a target has taken none.',
    queries: {
      '{{target}}': 'sum by (target) (countersign_notifications_pending)',
      '{{target}}: seconds without an answer':
        'time() - (max by (target) (countersign_notifications_failing_since_timestamp_seconds) > 0)',
      '{{target}}: dropped': `sum by (target) (${counterIncrease('countersign_notifications_dropped_total', '1h')})`,
    },
  },
];

const EXTERNAL: readonly Panel[] = [
  {
    title: 'Orders of external CAs, an hour',
    description:
      'By outcome. Each issued one is a certificate of the CA, and each lost one may be.',
    queries: {
      '{{signer}} {{outcome}}': `sum by (signer, outcome) (${counterIncrease('countersign_external_orders_total', '1h')})`,
      '{{signer}}: refused answers': `sum by (signer) (${counterIncrease('countersign_external_refused_answers_total', '1h')})`,
    },
  },
  {
    title: 'External CAs that issue nothing',
    description: '1: the condition Ready of the ExternalClusterSigner has the cause.',
    queries: { '{{signer}}': '1 - min by (signer) (countersign_external_signer_ready)' },
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
    { title: 'External CAs', panels: EXTERNAL },
  ],
};
