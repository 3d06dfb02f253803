// SPDX-License-Identifier: Apache-2.0
/** Judges and counts what is known for the page Overview. Pure. */
import type { SignerFacts, WaitingRequest } from '#diagnose/check/facts.ts';
import type { Finding, ReadResult, Severity } from '#diagnose/check/finding.ts';
import { mapSeen } from '#diagnose/check/reading/list-visible.ts';
import { runChecks, type Facts } from '#diagnose/check/run-checks.ts';
import type { SignerSummary } from '#operations/show/signer-summary.ts';
import type { IssuedEntries, KnownReadings } from '../readings.ts';
import {
  MAX_ROWS,
  SEVERITIES,
  type DayModel,
  type FindingsPart,
  type OverviewModel,
  type Rows,
  type ScheduledEvent,
  type WaitingCount,
} from './overview-model.ts';
import { once, summariesOf } from './once.ts';

/** A day: the span of the counts of issued certificates. */
const COUNTED_MS = 86_400_000;

/**
 * Judges what is known, and counts. What is still being read has no part.
 *
 * @param show - the severity of the findings to show. Undefined shows all but passed checks.
 */
export function overviewOf(
  { facts, signers, issued, reading, failures }: KnownReadings,
  { now, show }: { readonly now: number; readonly show: string | undefined },
): OverviewModel {
  const { requests } = facts?.installed ?? {};
  return {
    reading,
    failures,
    ...(facts === undefined ? {} : { findings: findingsOf(facts, show) }),
    ...(signers === undefined ? {} : signersOf(signers)),
    ...(requests === undefined
      ? {}
      : { waiting: mapSeen(requests, (all) => rowsOf(countWaiting(all))) }),
    ...(issued === undefined ? {} : { day: dayOf(issued, now) }),
  };
}

/** The stream shows the same facts many times, and a large cluster takes long to judge. */
const judged = once(runChecks);

function rowsOf<T>(all: readonly T[]): Rows<T> {
  return { rows: all.slice(0, MAX_ROWS), total: all.length };
}

function findingsOf(facts: Facts, show: string | undefined): FindingsPart {
  const all = judged(facts);
  const rank = ({ severity }: Finding): number => SEVERITIES.indexOf(severity);
  const causes = new Set(all.filter(isBad).map(({ id, subject = '' }) => `${id} ${subject}`));
  const roots = all.filter(({ causedBy }) => causedBy === undefined || !causes.has(causedBy));
  const isShown = ({ severity }: Finding): boolean =>
    show === undefined ? severity !== 'ok' : severity === show;
  return {
    counts: {
      error: countOf(roots, 'error'),
      warning: countOf(roots, 'warning'),
      unseen: countOf(roots, 'unseen'),
      ok: countOf(roots, 'ok'),
    },
    shown: rowsOf(roots.filter(isShown).toSorted((a, b) => rank(a) - rank(b))),
  };
}

function isBad({ severity, causedBy }: Finding): boolean {
  return severity !== 'ok' && causedBy === undefined;
}

function countOf(findings: readonly Finding[], severity: Severity): number {
  return findings.filter((each) => each.severity === severity).length;
}

function signersOf(signers: ReadResult<SignerFacts>): Pick<OverviewModel, 'signers' | 'scheduled'> {
  const summaries = mapSeen(signers, summariesOf);
  return {
    signers: mapSeen(summaries, (all) => {
      const { rows, total } = rowsOf(all);
      return {
        total,
        rows: rows.map(({ name, signerName, ready, warnings, authorities }) => {
          return { name, signerName, ready, warnings, authorities: authorities.length };
        }),
      };
    }),
    ...('value' in summaries ? { scheduled: rowsOf(scheduledOf(summaries.value)) } : {}),
  };
}

function countWaiting(requests: readonly WaitingRequest[]): readonly WaitingCount[] {
  const groups = Map.groupBy(requests, ({ signerName, waitsForApproval }) =>
    JSON.stringify([signerName, waitsForApproval]),
  );
  return [...groups.values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined) return [];
    const { signerName, waitsForApproval } = first;
    const oldest = alike.reduce((least, { since }) => Math.min(least, since), Infinity);
    return [{ signerName, waitsForApproval, count: alike.length, oldest }];
  });
}

/** Returns the next event of each CA, soonest first. */
function scheduledOf(signers: readonly SignerSummary[]): readonly ScheduledEvent[] {
  return signers
    .flatMap(({ name, authorities }) =>
      authorities.flatMap(({ fingerprint, next }) =>
        next === undefined ? [] : [{ signer: name, fingerprint, ...next }],
      ),
    )
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function dayOf({ entries, places, cutAt }: IssuedEntries, now: number): DayModel {
  const recent = entries.filter(({ row }) => Date.parse(row.notBefore) > now - COUNTED_MS);
  const groups = Map.groupBy(recent, ({ row }) => row.signerName);
  const counts = [...groups]
    .map(([signerName, alike]) => ({ signerName, count: alike.length }))
    .toSorted((a, b) => b.count - a.count);
  return { ...rowsOf(counts), places, cutAt };
}
