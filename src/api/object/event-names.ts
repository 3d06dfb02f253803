// SPDX-License-Identifier: Apache-2.0
/** Names of events in flags and values. The type of an event has `dev.countersign.` before it. */
export const EVENT_NAMES = [
  'certificate.issued',
  'certificate.denied',
  'certificate.failed',
  'certificate.expiring',
  'authority.rotated',
  'authority.distrusted',
  'authority.expiring',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];
