// SPDX-License-Identifier: Apache-2.0
import { counter, gauge } from '#component/metric.ts';

/** The series of `notifier`. */
export const NOTIFICATION_SERIES = {
  calls: counter(
    'countersign_notifications_total',
    'Calls to targets of notifications, by outcome: delivered, refused (the event is not retried), later (retried) or gone (410).',
    ['target', 'outcome'],
  ),
  dropped: counter(
    'countersign_notifications_dropped_total',
    'Notifications dropped for a target: queue full (full), rejected by it (refused), or retried for too long (expired).',
    ['target', 'reason'],
  ),
  pending: gauge('countersign_notifications_pending', 'Notifications that wait for a target.', [
    'target',
  ]),
  failing: gauge(
    'countersign_notifications_failing_since_timestamp_seconds',
    'Time since which a target fails; 0 if the last call succeeded.',
    ['target'],
  ),
  gone: gauge(
    'countersign_notifications_target_gone',
    '1 if a target returned 410. It receives nothing until notifier restarts.',
    ['target'],
  ),
};
