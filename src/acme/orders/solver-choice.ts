// SPDX-License-Identifier: Apache-2.0
import { challengeTypeOf, type AcmeSolver } from '#api/acme/acme-signer.ts';

/** Fields of a solver that decide the choice. Without a selector, every name matches. */
type Choosable = Pick<AcmeSolver, 'selector' | 'http01' | 'persist'>;

/** The name to choose a solver for. */
export interface ToProve {
  /** The name without `*.`. */
  readonly name: string;
  readonly wildcard: boolean;
  /** Challenge types that the server offers. */
  readonly offered: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Returns the most specific solver with an offered challenge type. An exact name ranks above a
 * zone, a longer zone above a shorter one, a zone above labels, more labels above fewer. The first
 * of equals wins.
 *
 * @returns undefined if none fits
 */
export function chooseSolver<S extends Choosable>(
  solvers: readonly S[],
  wanted: ToProve,
): S | undefined {
  let best: { readonly solver: S; readonly rank: readonly number[] } | undefined;
  for (const solver of solvers) {
    const rank = canProve(solver, wanted) ? rankOf(solver.selector ?? {}, wanted) : undefined;
    if (rank !== undefined && (best === undefined || isHigher(rank, best.rank)))
      best = { solver, rank };
  }
  return best?.solver;
}

/** HTTP proves no wildcard (RFC 8555 §8.3; Baseline Requirements §3.2.2.4.19). */
function canProve(solver: Choosable, { wildcard, offered }: ToProve): boolean {
  const type = challengeTypeOf(solver);
  return offered.includes(type) && !(wildcard && type === 'http-01');
}

/**
 * Returns how specific a selector is, most important first. Returns undefined if a given field does
 * not match. A name is in a zone if it equals the zone or ends with a dot and the zone.
 */
function rankOf(
  selector: NonNullable<AcmeSolver['selector']>,
  wanted: ToProve,
): readonly number[] | undefined {
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
