// SPDX-License-Identifier: Apache-2.0
/** What may happen, as flags and values name it; the type of an event has `dev.countersign.` before it. */
export const EVENT_NAMES = [
  'certificate.issued',
  'certificate.denied',
  'certificate.failed',
  'certificate.expiring',
  'authority.rotated',
  'authority.distrusted',
  'authority.expiring',
] as const;

/** One of them. */
export type EventName = (typeof EVENT_NAMES)[number];
