// SPDX-License-Identifier: Apache-2.0
import type { Bench } from '../report/marks.ts';

/** A bench and its arguments. */
export interface Plan {
  readonly bench: Bench;
  readonly full: readonly string[];
  /** The least that goes through everything that it does. */
  readonly smoke: readonly string[];
}

function plan(bench: Bench, full: string, smoke: string): Plan {
  const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');
  return { bench, full: words(full), smoke: words(smoke) };
}

/** What differs from a bench's own defaults is what the marks are set on. */
export const PLANS: readonly Plan[] = [
  plan('issue', '', '--milliseconds 50 --rounds 1'),
  plan('drain', '--requests 10000', '--requests 40 --default-requests 12 --rounds 1'),
  plan('csr', '', '--requests 40 --default-requests 12 --rounds 1'),
  plan('latency', '', '--writes 40 --seconds 2 --rounds 1 --idle 1 --pauses 1'),
  plan('start', '', '--objects 100 --rounds 1'),
  plan(
    'memory',
    '',
    '--objects 50 --settle 1 --issuances 40 --foreign 50 --requests 40 --rounds 1',
  ),
];
