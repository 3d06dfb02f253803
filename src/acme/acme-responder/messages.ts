// SPDX-License-Identifier: Apache-2.0
/** Texts of the acme-responder, by where users read them. */

// Log and /readyz

export const ANSWERS_VALIDATIONS = 'answers validations';

export function unlisted(failure: string | undefined): string {
  return `Challenges: ${failure ?? 'not listed yet'}`;
}

export function brokenWatch(failure: string): string {
  return `Challenges: ${failure}`;
}
