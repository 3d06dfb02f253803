// SPDX-License-Identifier: Apache-2.0
/** Texts of Events on parts of a request that its certificate omits. */
import { quoteList } from '#base/quote.ts';
import { formatDuration } from '#api/object/duration.ts';

export function omittedNames(field: string, values: readonly string[]): string {
  return `no ${field} ${quoteList(values)}: spec.requests.copy does not list ${field}`;
}

export function omittedParts(parts: readonly string[]): string {
  return `no ${quoteList(parts)}: no leaf gets that`;
}

export function shorter(duration: number, requested: number): string {
  return `valid for ${formatDuration(duration)} and not for ${formatDuration(requested)}: spec.profile.maxDuration`;
}
