// SPDX-License-Identifier: Apache-2.0
/** Decides which findings of a search are red: those that return each time they are measured. */
import { MAX_PAUSE_MS, MAX_RATIO } from './limits.ts';
import { MIN_MS, type Finding } from './measure.ts';

/** A busy core makes one measurement wrong, and seldom five. */
export const CONFIRMATIONS = 5;

/** A finding over a limit, measured again alone. */
export interface Confirmed {
  readonly finding: Finding;
  readonly again: readonly Finding[];
  readonly isRed: boolean;
}

/** Reports whether a subject took longer than its price, or a turn of the event loop, allows. */
export function exceeds({ ms, ratio, pause }: Finding): boolean {
  return (ms >= MIN_MS && ratio > MAX_RATIO) || (pause?.ms ?? 0) > MAX_PAUSE_MS;
}

/** Returns how far a finding is over its limit: 1 is at the limit. */
export function severityOf({ ratio, pause }: Finding): number {
  return Math.max(ratio / MAX_RATIO, (pause?.ms ?? 0) / MAX_PAUSE_MS);
}

/**
 * Measures each finding again, five times, one after the other. Nothing else runs meanwhile. A
 * finding is red if it exceeds a limit in all five runs.
 */
export async function confirm(findings: readonly Finding[]): Promise<readonly Confirmed[]> {
  const confirmed: Confirmed[] = [];
  for (const finding of findings) {
    const again: Finding[] = [];
    for (let run = 0; run < CONFIRMATIONS; run += 1) again.push(await finding.again());
    confirmed.push({ finding, again, isRed: again.every(exceeds) });
  }
  return confirmed;
}

/** Returns a line of the report: the figures of the search, those of the five runs, the subject. */
export function lineOf({ finding, again, isRed }: Confirmed): string {
  const figures = [finding, ...again].map(figureOf);
  const word = isRed ? 'RED' : 'not repeated';
  return `${word} ${finding.kind}: ${figures[0]}, alone ${figures.slice(1).join(', ')}: ${finding.source}`;
}

function figureOf({ ratio, pause }: Finding): string {
  const parts = [
    ...(ratio > 0 ? [`ratio ${ratio.toFixed(2)}`] : []),
    ...(pause === undefined ? [] : [`pause ${pause.ms.toFixed(1)} ms`]),
  ];
  return parts.join(' and ');
}
