// SPDX-License-Identifier: Apache-2.0
/** The series of every process. Those of a component are in `metrics.ts` of its folder. */
import { counter, gauge, histogram } from '../metric.ts';

const QUEUE_BUCKETS = [0.0001, 0.001, 0.01, 0.1, 1, 10, 60];

export const PROCESS_SERIES = {
  watchRestarts: counter(
    'countersign_watch_restarts_total',
    'Watches that closed and were reconnected.',
    ['resource', 'reason'],
  ),
  watchLastEvent: gauge(
    'countersign_watch_last_event_timestamp_seconds',
    'Time of the last event on the watch; bookmarks arrive every minute.',
    // A resource has a watch for each signer name, Secret or bundle. A live watch must not hide a
    // dead one.
    ['resource', 'selector'],
  ),
  servingNotAfter: gauge(
    'countersign_serving_certificate_not_after_timestamp_seconds',
    'When the certificate of this component’s HTTPS port expires; 0 if there is none.',
  ),
  clockOffset: gauge(
    'countersign_clock_offset_seconds',
    'How far the local clock is ahead of the API server’s, by the Date header of its responses.',
  ),
  inFlightLimit: gauge(
    'countersign_in_flight_limit',
    'Current concurrency limit: objects at once that may call the API server, apart from those that come back from a ledger. Status 429 and slow responses lower it.',
  ),
  missingPermissions: gauge(
    'countersign_missing_permissions',
    'Permissions that this component needs and does not have.',
  ),
  admissionDifferences: gauge(
    'countersign_admission_policy_differences',
    'Differences of an admission policy from what countersign rbac prints.',
    ['policy'],
  ),
  // Requests to the API server, except watches.
  calls: counter(
    'rest_client_requests_total',
    'Calls to the API server, by method and status code; <error> if there was no response.',
    ['method', 'code'],
  ),
  credentials: counter(
    'countersign_credentials_changes_total',
    'Reloads of changed tokens and TLS files (CA, client certificate); unreadable: the read failed, and the old ones stay in use.',
    ['change'],
  ),
  eventsDropped: counter(
    'countersign_events_dropped_total',
    'Events that were dropped: above the rate limit (rate), queue full (full), or refused by the API server (refused).',
    ['cause'],
  ),
  // The names are those of client-go's workqueue, which existing dashboards know.
  queueDepth: gauge('workqueue_depth', 'Keys in the workqueue that wait for a worker.', ['name']),
  queueAdds: counter('workqueue_adds_total', 'Keys added to the workqueue.', ['name']),
  queueWait: histogram(
    'workqueue_queue_duration_seconds',
    'How long a key waited for a worker.',
    ['name'],
    QUEUE_BUCKETS,
  ),
  queueWork: histogram(
    'workqueue_work_duration_seconds',
    'How long a worker processed a key.',
    ['name'],
    QUEUE_BUCKETS,
  ),
  queueRetries: counter('workqueue_retries_total', 'Keys requeued after a failure.', ['name']),
  queueUnfinished: gauge(
    'workqueue_unfinished_work_seconds',
    'Sum of the processing times so far of all keys in progress.',
    ['name'],
  ),
  queueLongest: gauge(
    'workqueue_longest_running_processor_seconds',
    'Processing time so far of the longest-running key in progress.',
    ['name'],
  ),
};

const leaseFailures = counter(
  'countersign_lease_failures_total',
  'Failed attempts to read, acquire or renew a Lease.',
);

/** The series of a component whose replicas share their work. */
export const SHARE_SERIES = {
  members: gauge(
    'countersign_shard_members',
    'Replicas that share the work, as seen by this replica; 0 until the Leases are read.',
  ),
  share: gauge(
    'countersign_shard_ratio',
    'Fraction of the work that this replica does, from 0 to 1.',
  ),
  leaseFailures,
};

/** The series of a component with one leading replica. */
export const LEADER_SERIES = {
  leader: gauge(
    'countersign_leader',
    '1 while this replica is the leader, 0 while it is on standby with warm caches.',
  ),
  leaseFailures,
};
