// SPDX-License-Identifier: Apache-2.0
import type { ChallengeType } from './record.ts';

/** Which names a solver is for. All that are given must hold; none at all holds for every name. */
export interface SolverSelector {
  /** Exact names, wildcards with `*.`. */
  readonly dnsNames?: readonly string[] | undefined;
  /** A name is in a zone that is the name, or ends it after a dot. */
  readonly dnsZones?: readonly string[] | undefined;
  /** Labels of what asks for the certificate. */
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
}

/** A solver of a signer. */
export interface Solver {
  readonly name: string;
  readonly type: ChallengeType;
  readonly selector?: SolverSelector | undefined;
}

/** What a solver is sought for. */
export interface ToProve {
  /** Without `*.`. */
  readonly name: string;
  readonly wildcard: boolean;
  /** Types of the server's challenges. */
  readonly offered: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The solver for a name: the most specific one that the server offers a challenge for. An exact name is more than a zone,
 * a longer zone more than a shorter one, a zone more than labels, more labels more than fewer; the first of equals.
 *
 * @returns undefined where none fits
 */
export function chooseSolver(solvers: readonly Solver[], wanted: ToProve): Solver | undefined {
  let best: { readonly solver: Solver; readonly rank: readonly number[] } | undefined;
  for (const solver of solvers) {
    const rank = canProve(solver, wanted) ? rankOf(solver.selector ?? {}, wanted) : undefined;
    if (rank !== undefined && (best === undefined || isHigher(rank, best.rank)))
      best = { solver, rank };
  }
  return best?.solver;
}

/** HTTP proves no wildcard (RFC 8555 §8.3; Baseline Requirements §3.2.2.4.19). */
function canProve({ type }: Solver, { wildcard, offered }: ToProve): boolean {
  return offered.includes(type) && !(wildcard && type === 'http-01');
}

/** How specific a selector is, most important first; undefined where it does not hold. */
function rankOf(selector: SolverSelector, wanted: ToProve): readonly number[] | undefined {
  const { dnsNames = [], dnsZones = [], matchLabels = {} } = selector;
  const { name, wildcard, labels } = wanted;
  const zones = dnsZones.filter((zone) => name === zone || name.endsWith(`.${zone}`));
  const pairs = Object.entries(matchLabels);
  const holds =
    isAmong(wildcard ? `*.${name}` : name, dnsNames) &&
    (dnsZones.length === 0 || zones.length > 0) &&
    pairs.every(([key, value]) => labels[key] === value);
  if (!holds) return undefined;
  const longest = Math.max(0, ...zones.map((zone) => zone.split('.').length));
  return [Math.min(dnsNames.length, 1), longest, pairs.length];
}

function isAmong(name: string, names: readonly string[]): boolean {
  return names.length === 0 || names.includes(name);
}

function isHigher(a: readonly number[], b: readonly number[]): boolean {
  const differs = a.findIndex((value, index) => value !== b[index]);
  return differs >= 0 && (a[differs] ?? 0) > (b[differs] ?? 0);
}
