// SPDX-License-Identifier: Apache-2.0
import type { Bench } from '../report/marks.ts';

/** A bench and its arguments. */
export interface Plan {
  readonly bench: Bench;
  readonly full: readonly string[];
  /** Sizes with which all benches together are done in an hour, and say something. */
  readonly short: readonly string[];
  /** The least that goes through everything that it does. */
  readonly smoke: readonly string[];
}

interface Sizes {
  readonly full: string;
  readonly short: string;
  readonly smoke: string;
}

function plan(bench: Bench, { full, short, smoke }: Sizes): Plan {
  const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');
  return { bench, full: words(full), short: words(short), smoke: words(smoke) };
}

/** What differs from a bench's own defaults is what the marks are set on. */
export const PLANS: readonly Plan[] = [
  plan('issue', {
    full: '',
    short: '--rounds 3',
    smoke: '--milliseconds 10 --rounds 1 --warm-up 20',
  }),
  plan('drain', {
    full: '--requests 10000 --rounds 5',
    short: '--requests 10000 --rounds 3',
    smoke: '--requests 40 --default-requests 12 --rounds 1',
  }),
  plan('counters', {
    full: '',
    short: '--requests 3000 --rounds 2',
    smoke: '--requests 40 --rounds 1',
  }),
  plan('csr', {
    full: '',
    short: '--requests 1500 --default-requests 100 --rounds 2',
    smoke: '--requests 40 --default-requests 12 --rounds 1',
  }),
  plan('pinned', {
    full: '',
    short: '--requests 2000 --csrs 1000 --rounds 2',
    smoke: '--requests 40 --csrs 40 --rounds 1',
  }),
  plan('latency', {
    full: '',
    short: '--writes 2000 --seconds 10 --rounds 2 --idle 75 --pauses 1',
    smoke: '--writes 40 --seconds 1 --warm-up 1 --rounds 1 --idle 1 --pauses 1',
  }),
  plan('start', {
    full: '',
    short: '--objects 20000 --rounds 2',
    smoke: '--objects 100 --rounds 1',
  }),
  plan('idle', {
    full: '',
    short: '--settle 20 --rounds 1',
    smoke: '--components approver --peers cert-manager --settle 1 --rounds 1',
  }),
  plan('memory', {
    full: '',
    short: '--objects 5000 --settle 5 --issuances 10000 --foreign 3000 --requests 1000 --rounds 1',
    smoke: '--objects 50 --settle 1 --issuances 40 --foreign 50 --requests 40 --rounds 1',
  }),
  plan('replicas', {
    full: '',
    short: '--requests 2000 --rounds 2 --takeovers 1',
    smoke: '--requests 40 --rounds 1 --lease-seconds 3 --takeovers 1',
  }),
  plan('fairness', {
    full: '',
    short: '--seconds 20 --rounds 2',
    smoke: '--seconds 2 --warm-up 1 --rounds 1',
  }),
  plan('flow-control', {
    full: '',
    short: '--rounds 2',
    smoke: '--requests 2 --rounds 1',
  }),
  plan('library', {
    full: '--requests 10000 --rounds 5',
    short: '--requests 3000 --rounds 3',
    smoke: '--requests 40 --rounds 1',
  }),
  plan('acme', {
    full: '',
    short: '--requests 30 --default-requests 0 --rounds 1',
    smoke: '--requests 2 --default-requests 0 --rounds 1',
  }),
  plan('ledger', {
    full: '--requests 10000 --rounds 5',
    short: '--requests 3000 --seconds 15 --rounds 2',
    smoke:
      '--records 500 --searches 2 --batches 2 --requests 40 --recorded 40 --seconds 1 --rounds 1',
  }),
  // What these leave behind would be in the way of the others.
  plan('injection', { full: '', short: '--pods 300 --rounds 3', smoke: '--pods 10 --rounds 1' }),
  plan('services', {
    full: '',
    short: '--services 200 --pods 2000 --rounds 2',
    smoke: '--services 40 --pods 40 --rounds 1',
  }),
  plan('check', {
    full: '',
    short: '--signers 100 --pods 10000 --rounds 3',
    smoke: '--signers 2 --pods 20 --rounds 1',
  }),
  plan('console', {
    full: '',
    short: '--signers 200 --pods 20000 --minutes 1 --visits 5',
    smoke: '--signers 2 --pods 20 --requests 2 --minutes 0 --visits 1',
  }),
];
