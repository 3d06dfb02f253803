// SPDX-License-Identifier: Apache-2.0
import type { ContenderName } from './baselines.ts';
import type { Drain } from './measure-drain.ts';
import { median } from '../measure/median.ts';

/** Medians over the rounds, and how far the rates lie apart. */
export interface Figure extends Drain {
  readonly leastPerSecond: number;
  readonly mostPerSecond: number;
}

export type Figures = Readonly<Record<string, Figure>>;

/** Ours as a multiple of the others. */
export interface Ratios {
  /** Above 1: faster than upstream's signer without its client limiter. */
  readonly drain_vs_upstream_unlimited: number;
  /** Of 1: as fast as statuses made beforehand can be written. */
  readonly drain_vs_limit: number;
  /** The same with its limiter, as it is shipped. */
  readonly drain_vs_upstream_default: number;
}

type Drains = ReadonlyMap<string, readonly Drain[]>;

export function figuresOf(drains: Drains): Figures {
  return Object.fromEntries([...drains].map(([name, of]) => [name, figureOf(of)]));
}

/** The median of each round's ratio: what disturbs a whole round is in both of its rates. */
export function ratiosOf(drains: Drains): Ratios {
  const against = (other: ContenderName): number => {
    const others = rates(drains, other);
    return rounded(
      median(rates(drains, 'countersign').map((rate, round) => rate / (others[round] ?? NaN))),
    );
  };
  return {
    drain_vs_upstream_unlimited: against('upstream-unlimited'),
    drain_vs_limit: against('status-writer'),
    drain_vs_upstream_default: against('upstream-default'),
  };
}

function rates(drains: Drains, name: ContenderName): readonly number[] {
  return (drains.get(name) ?? []).map((drain) => drain.certificatesPerSecond);
}

function figureOf(drains: readonly Drain[]): Figure {
  const all = (field: keyof Drain): number[] => drains.map((drain) => drain[field]);
  const typical = (field: keyof Drain): number => rounded(median(all(field)));
  return {
    certificatesPerSecond: typical('certificatesPerSecond'),
    leastPerSecond: rounded(Math.min(...all('certificatesPerSecond'))),
    mostPerSecond: rounded(Math.max(...all('certificatesPerSecond'))),
    secondsFromStart: typical('secondsFromStart'),
    secondsToFirst: typical('secondsToFirst'),
    contenderCpu: typical('contenderCpu'),
    apiServerCpu: typical('apiServerCpu'),
    etcdCpu: typical('etcdCpu'),
    otherCores: typical('otherCores'),
  };
}

/** Three digits are more than the noise leaves. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
