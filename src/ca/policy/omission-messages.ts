// SPDX-License-Identifier: Apache-2.0
/** Ends of sentences on what a certificate has less than its request: "it would have …". */
import { quoteList } from '#base/quote.ts';
import { formatDuration } from '#api/object/duration.ts';

export function omittedNames(field: string, values: readonly string[]): string {
  return `no ${field} ${quoteList(values)}: spec.requests.copy does not list ${field}`;
}

export function omittedParts(parts: readonly string[]): string {
  return `no ${quoteList(parts)}: no leaf gets that`;
}

export function shorter(duration: number, requested: number): string {
  return `a validity of ${formatDuration(duration)} and not of ${formatDuration(requested)}: spec.profile.maxDuration limits it`;
}
