// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-issue`: leaves a second and core for CertificateSigningRequests and
 * PodCertificateRequests: ours, pkijs straight, Go's crypto/x509 and a bare signature, in turns.
 * ARGS: `--milliseconds 500 --rounds 7 --warm-up 3000`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildGoIssuer } from './build.ts';
import { startContender, type ContenderProcess } from './contender-process.ts';
import { COVERED, contenders, type Contender } from './baselines.ts';
import { figuresOf, ratiosOf } from './figures.ts';
import { printIssueTable } from './print.ts';
import { verifyLeaf } from './verify-leaf.ts';
import { writeWork } from './work.ts';
import { readArguments } from '../measure/arguments.ts';
import { readMachine } from '../measure/machine.ts';
import { writeResults } from '../measure/results.ts';
import { inTurns } from '../measure/turns.ts';

/**
 * Tells how many leaves a contender makes in the time of a turn: so many, or as many as warm it up.
 */
const TRIAL_LEAVES = 500;

const {
  milliseconds,
  rounds,
  results,
  'warm-up': warmUp,
} = readArguments({
  milliseconds: { default: 500, least: 10 },
  rounds: { default: 7, least: 1 },
  /** Leaves until just-in-time compilers have compiled what there is to compile; not counted. */
  'warm-up': { default: 3_000, least: 1 },
});
const trial = Math.min(TRIAL_LEAVES, warmUp);

interface Entry extends Contender {
  readonly process: ContenderProcess;
  readonly rates: number[];
  /** Leaves a turn. */
  readonly size: number;
}

const directory = mkdtempSync(join(tmpdir(), 'bench-issue-'));
const processes: ContenderProcess[] = [];
try {
  const file = join(directory, 'work.json');
  const work = await writeWork(file);
  const entries: Entry[] = [];
  for (const contender of contenders(file, buildGoIssuer(directory))) {
    const process = startContender(contender.command);
    processes.push(process);
    const { last } = await process.issue(warmUp);
    verifyLeaf(contender, work, last);
    const { cpuMicroseconds } = await process.issue(trial);
    const size = Math.ceil((trial * milliseconds * 1000) / Math.max(1, cpuMicroseconds));
    entries.push({ ...contender, process, rates: [], size });
  }
  for (const [round, turn] of inTurns(entries, rounds).entries()) {
    for (const entry of turn) {
      const { cpuMicroseconds, last } = await entry.process.issue(entry.size);
      verifyLeaf(entry, work, last);
      entry.rates.push((entry.size * 1e6) / cpuMicroseconds);
    }
    console.log(`round ${round + 1} of ${rounds}`);
  }
  const rates = new Map(
    entries.map((each) => [`${each.kind} ${each.name}` as const, each.rates] as const),
  );
  const [figures, ratios] = [figuresOf(rates), ratiosOf(rates)];
  printIssueTable(figures, ratios);
  writeResults(results, 'issue', {
    ratios,
    figures: { rounds, milliseconds, covered: COVERED, ...figures },
    machine: readMachine(),
  });
} finally {
  await Promise.all(processes.map((process) => process.stop()));
  rmSync(directory, { recursive: true });
}
