// SPDX-License-Identifier: Apache-2.0

/**
 * `metav1.Time`: RFC 3339 in UTC with whole seconds. Milliseconds are cut off, never rounded up:
 * the API server compares a PodCertificateRequest's times with the leaf's, which has none.
 */
export function formatTime(milliseconds: number): string {
  const text = new Date(milliseconds).toISOString();
  return `${text.slice(0, text.length - MILLISECONDS.length)}Z`;
}

/** What toISOString() always ends in. */
const MILLISECONDS = '.000Z';

/** Milliseconds of an RFC 3339 text, or NaN. */
export function parseTime(text: string): number {
  return Date.parse(text);
}
