// SPDX-License-Identifier: Apache-2.0
import { Counter, Gauge, type Registry } from 'prom-client';

/** The series of workloads that are restarted for their certificates. */
export interface RefreshSeries {
  readonly refreshWorkloads: Gauge<'state'>;
  readonly refreshRestarts: Counter<'outcome'>;
  readonly refreshEvictions: Counter<'outcome'>;
}

export function refreshSeries(registers: Registry[]): RefreshSeries {
  return {
    refreshWorkloads: new Gauge({
      name: 'countersign_refresh_workloads',
      help: 'Workloads that opted in to restarts, by what the last pass made of them.',
      labelNames: ['state'],
      registers,
    }),
    refreshRestarts: new Counter({
      name: 'countersign_refresh_restarts_total',
      help: 'Restarts that were begun, or refused by the API server.',
      labelNames: ['outcome'],
      registers,
    }),
    refreshEvictions: new Counter({
      name: 'countersign_refresh_evictions_total',
      help: 'Evictions of pods whose last credential ends, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
  };
}

/** The series of what notifier sends. */
export interface NotificationSeries {
  readonly notifications: Counter<'target' | 'outcome'>;
  readonly notificationsDropped: Counter<'target' | 'reason'>;
  readonly notificationsPending: Gauge<'target'>;
  readonly notificationsFailing: Gauge<'target'>;
  readonly notificationsGone: Gauge<'target'>;
}

export function notificationSeries(registers: Registry[]): NotificationSeries {
  return {
    notifications: new Counter({
      name: 'countersign_notifications_total',
      help: 'Calls to targets of notifications, by outcome: delivered, refused (this event for ever), later (tried again) or gone (410).',
      labelNames: ['target', 'outcome'],
      registers,
    }),
    notificationsDropped: new Counter({
      name: 'countersign_notifications_dropped_total',
      help: 'Notifications that a target will not get: no room (full), refused by it, or tried for too long (expired).',
      labelNames: ['target', 'reason'],
      registers,
    }),
    notificationsPending: new Gauge({
      name: 'countersign_notifications_pending',
      help: 'Notifications that wait for a target.',
      labelNames: ['target'],
      registers,
    }),
    notificationsFailing: new Gauge({
      name: 'countersign_notifications_failing_since_timestamp_seconds',
      help: 'Since when a target takes no notification; 0 where the last call succeeded.',
      labelNames: ['target'],
      registers,
    }),
    notificationsGone: new Gauge({
      name: 'countersign_notifications_gone',
      help: '1 where a target has answered 410: it gets nothing until notifier starts anew.',
      labelNames: ['target'],
      registers,
    }),
  };
}
