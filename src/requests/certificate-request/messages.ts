// SPDX-License-Identifier: Apache-2.0
/**
 * Texts of the component certificate-request, by where users read them. A denied request gets no
 * Event from it: who denies records one. Texts of `Failed` by a rule are in
 * `ca/policy/denial-messages.ts`.
 */
import { quote } from '#base/quote.ts';
import { formatDuration } from '#api/object/duration.ts';
import { MIN_REQUESTED_SECONDS } from '../issuing/leaf-template.ts';

// Events and conditions of a request

export function undecided(cause: string): string {
  return `approved, but no rule of spec.certificateRequests allows it; it waits until one does: ${cause}`;
}

export const CA_REQUESTED =
  'spec.isCA is true, but signers issue no CA certificates; create a new request without it';

export function shortDuration(duration: string): string {
  return `spec.duration is ${quote(duration, 40)}; set at least ${formatDuration(MIN_REQUESTED_SECONDS)}, or omit it to get the longest validity that the profile allows`;
}

// Plans

export const RULES_ONLY = 'only the rules are evaluated, without a CA';
