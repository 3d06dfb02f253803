// SPDX-License-Identifier: Apache-2.0

/**
 * Formats a time as `metav1.Time`: RFC 3339 in UTC with whole seconds. It drops milliseconds and
 * never rounds up, because the API server compares the times of a PodCertificateRequest with those
 * of its leaf.
 */
export function formatTime(milliseconds: number): string {
  const text = new Date(milliseconds).toISOString();
  return `${text.slice(0, text.length - MILLISECONDS.length)}Z`;
}

/** End of the text of toISOString(), as a format. */
const MILLISECONDS = '.000Z';

/** Parses RFC 3339 into milliseconds since the epoch. Returns NaN for malformed text. */
export function parseTime(text: string): number {
  return Date.parse(text);
}
