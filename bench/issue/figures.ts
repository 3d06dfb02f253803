// SPDX-License-Identifier: Apache-2.0
import { median } from '../measure/median.ts';
import { COVERED, type ContenderName } from './baselines.ts';
import { KINDS, type Kind } from './work.ts';

/** Leaves per second of CPU time, round by round. */
export type Rates = ReadonlyMap<`${Kind} ${ContenderName}`, readonly number[]>;

export interface Figure {
  /** Median of the rounds: leaves a second on a core that does nothing else. */
  readonly perSecondAndCore: number;
  readonly least: number;
  readonly most: number;
}

export type Figures = Readonly<Record<Kind, Readonly<Record<string, Figure>>>>;

const RATIOS = {
  issue_vs_pkijs: ['issue', 'pkijs'],
  issue_linted_vs_pkijs: ['issue-linted', 'pkijs'],
  issue_vs_go: ['issue', 'go'],
  issue_vs_bare_sign: ['issue', 'bare-sign'],
  library_vs_builtin_step: ['library', 'built-in'],
  issue_whole_vs_pkijs_whole: ['issue-whole', 'pkijs-whole'],
  issue_whole_vs_go_whole: ['issue-whole', 'go-whole'],
} as const satisfies Record<string, readonly [ContenderName, ContenderName]>;

type Ratio = keyof typeof RATIOS;

/** The lesser of the two kinds, and each by itself. */
export type Ratios = Readonly<Record<Ratio, number>> &
  Readonly<Record<Kind, Readonly<Record<Ratio, number>>>>;

export function figuresOf(rates: Rates): Figures {
  const names = Object.keys(COVERED) as readonly ContenderName[];
  const of = (kind: Kind): Readonly<Record<string, Figure>> =>
    Object.fromEntries(names.map((name) => [name, figureOf(rates.get(`${kind} ${name}`) ?? [])]));
  return { csr: of('csr'), pcr: of('pcr') };
}

/** Medians of each round's ratio: what disturbs a whole round is in both of its rates. */
export function ratiosOf(rates: Rates): Ratios {
  const of = (kind: Kind): Record<Ratio, number> =>
    mapRatios(([ours, other]) => {
      const others = rates.get(`${kind} ${other}`) ?? [];
      const all = rates.get(`${kind} ${ours}`) ?? [];
      return rounded(median(all.map((rate, round) => rate / (others[round] ?? NaN))));
    });
  const kinds = { csr: of('csr'), pcr: of('pcr') };
  const least = mapRatios((_, ratio) => Math.min(...KINDS.map((kind) => kinds[kind][ratio])));
  return { ...least, ...kinds };
}

function mapRatios(
  make: (pair: readonly [ContenderName, ContenderName], ratio: Ratio) => number,
): Record<Ratio, number> {
  const entries = Object.entries(RATIOS) as [Ratio, (typeof RATIOS)[Ratio]][];
  return Object.fromEntries(entries.map(([ratio, pair]) => [ratio, make(pair, ratio)])) as Record<
    Ratio,
    number
  >;
}

function figureOf(rates: readonly number[]): Figure {
  return {
    perSecondAndCore: rounded(median(rates)),
    least: rounded(Math.min(...rates)),
    most: rounded(Math.max(...rates)),
  };
}

/** Three digits are more than the noise leaves. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
