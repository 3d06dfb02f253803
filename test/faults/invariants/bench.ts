// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { openFaultCluster } from '../lab/cluster.ts';
import { openLab, type Lab } from '../lab/lab.ts';
import type { Kind, Wanted } from '../lab/wanted.ts';
import { awaitEnds, tryRequests, type Judged, type Trial } from '../oracle/court.ts';

/** A lab for one file of laws. */
export interface Bench extends Lab {
  /** So many requests of each kind, under names of their own. */
  requests(count: number, kinds?: readonly Kind[]): Promise<readonly Wanted[]>;
  /**
   * Waits until all have ended, and holds the three books together: each delivered once, with a
   * good certificate, and nothing signed in vain but `wasted`.
   */
  allDelivered(wanted: readonly Wanted[], more?: Omit<Trial, 'wanted'> & Bounds): Promise<Judged>;
}

export interface Bounds {
  /** At most so many signatures that nobody got; default 0. */
  readonly wasted?: number;
  readonly patienceMs?: number;
}

const SEED = 20_261_121;
const PATIENCE_MS = 60_000;

/** The one that all laws share: to start it takes longer than most of them do. */
export let bench: Bench;

export async function openBench(): Promise<Bench> {
  const cluster = await openFaultCluster();
  const lab = await openLab({ cluster, seed: SEED, preload: ['die', 'clock'] });
  const prefix = `law-${randomBytes(3).toString('hex')}`;
  let made = 0;
  bench = {
    ...lab,
    requests: (count, kinds = ['csr', 'pcr']) => {
      const names = Array.from({ length: count }, () => `${prefix}-${(made += 1)}`);
      return Promise.all(
        names.flatMap((name) => kinds.map((kind) => lab.load.create(kind, `${name}-${kind}`))),
      );
    },
    allDelivered: async (wanted, { wasted = 0, patienceMs = PATIENCE_MS, ...more } = {}) => {
      await awaitEnds(lab, wanted, patienceMs);
      const judged = await tryRequests(lab, { wanted, ...more });
      assert.equal(judged.violations.length, 0, judged.report.join('\n'));
      const vain = judged.signed - judged.delivered;
      assert.ok(vain <= wasted, `${vain} signatures in vain, at most ${wasted} are allowed`);
      return judged;
    },
    stop: async () => {
      await lab.stop();
      await cluster.stop();
    },
  };
  return bench;
}
