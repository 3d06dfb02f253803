// SPDX-License-Identifier: Apache-2.0
/**
 * A search for what takes longer than its price says, or than a turn of the event loop may take.
 */
import { WORDS, tryExpression } from './expressions.ts';
import { exceeds, severityOf } from './confirm.ts';
import { MIN_MS, figuresOf, type Finding, type Measured } from './measure.ts';
import { tryPattern } from './patterns.ts';
import { oneOf, type Pick } from './random.ts';
import { trySpec } from './specs.ts';

/** How many of each kind guide the search. */
const KEPT = 20;

/** How many findings over a limit are kept: a search around one finds hundreds beside it. */
const MAX_OVER = 40;

/** What the search found. */
export interface Result {
  readonly tried: number;
  /** How many took over 1 ms, by kind. */
  readonly measured: Readonly<Record<string, number>>;
  readonly worst: Measured | undefined;
  /**
   * What would hold the event loop of a component for longest, the collection of garbage not
   * counted.
   */
  readonly longest: Measured | undefined;
  /** The longest pause with the collection of garbage. */
  readonly withGarbageMs: number;
  /** The findings over a limit, the worst first. */
  readonly over: readonly Finding[];
}

/** The worst of each kind so far. */
class Findings {
  readonly measured: Record<string, number> = {};
  readonly over: Finding[] = [];
  readonly #kept = new Map<string, Measured[]>();
  tried = 0;
  worst: Measured | undefined;
  longest: Measured | undefined;
  withGarbageMs = 0;

  add(found: Finding): void {
    this.tried += 1;
    const figures = figuresOf(found);
    const { ms = 0, withGarbageMs = 0 } = found.pause ?? {};
    this.withGarbageMs = Math.max(this.withGarbageMs, withGarbageMs);
    if (ms > (this.longest?.pause?.ms ?? 0)) this.longest = figures;
    if (exceeds(found)) {
      this.over.push(found);
      this.over.sort((a, b) => severityOf(b) - severityOf(a));
      this.over.length = Math.min(this.over.length, MAX_OVER);
    }
    if (found.ms < MIN_MS) return;
    this.measured[found.kind] = (this.measured[found.kind] ?? 0) + 1;
    if (found.ratio > (this.worst?.ratio ?? 0)) this.worst = figures;
    const kept = this.#kept.get(found.kind) ?? [];
    kept.push(figures);
    kept.sort((a, b) => b.ratio - a.ratio || b.ms - a.ms);
    kept.length = Math.min(kept.length, KEPT);
    this.#kept.set(found.kind, kept);
  }

  sources(...kinds: readonly string[]): readonly string[] {
    return kinds.flatMap((kind) => (this.#kept.get(kind) ?? []).map(({ source }) => source));
  }
}

/** Searches until `isOver`. */
export async function search(pick: Pick, isOver: () => boolean): Promise<Result> {
  const found = new Findings();
  const kinds = Object.keys(WORDS);
  while (!isOver()) {
    const turn = pick(20);
    if (turn === 0) {
      const all = await trySpec(pick, found.sources('NAMESPACED_REQUEST'));
      for (const each of all) found.add(each);
    } else if (turn < 8) {
      const worst = found.sources('compile a pattern', 'match a pattern', 'refuse a pattern');
      for (const each of await tryPattern(pick, worst)) found.add(each);
    } else {
      const kind = oneOf(pick, kinds);
      const one = await tryExpression(pick, kind, found.sources(kind));
      if (one !== undefined) found.add(one);
    }
  }
  return resultOf(found);
}

/** Returns what a search that measured only these would return. */
export function findingsOf(all: readonly Finding[]): Result {
  const found = new Findings();
  for (const each of all) found.add(each);
  return resultOf(found);
}

function resultOf(found: Findings): Result {
  const { tried, measured, worst, longest, withGarbageMs, over } = found;
  return { tried, measured, worst, longest, withGarbageMs, over };
}
