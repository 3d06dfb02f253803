// SPDX-License-Identifier: Apache-2.0
/**
 * `make fuzz ARGS='--target request --seconds 3600 --seed 1'`: one target, or each in turn. What is
 * found is printed and written to `.cache/fuzz/<target>-findings.txt`; the corpus grows in
 * `.cache/fuzz`. `--keep` writes the smallest inputs that reach all that the corpus reaches to
 * `test/fuzz/corpus`. The exit code is 1 when something was found.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { counters } from './instrument.ts';
import { KEPT, readCorpus, writeCorpus } from './corpus.ts';
import { fuzz, type FuzzResult, type Target } from './engine.ts';

const GROWN = join(import.meta.dirname, '../../.cache/fuzz');

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
});

// After instrument.ts: only what is loaded later is counted.
const { TARGETS } = await import('./targets/index.ts');
const chosen = TARGETS.filter(({ name }) => values.target === undefined || name === values.target);
if (chosen.length === 0) {
  throw new Error(`--target is one of ${TARGETS.map(({ name }) => name).join(', ')}`);
}
for (const target of chosen) run(target);

function run(target: Target): void {
  const { name } = target;
  const result = fuzz(target, {
    seed: Number(values.seed),
    forMs: Number(values.seconds) * 1000,
    corpus: [...readCorpus(KEPT, name), ...readCorpus(GROWN, name)],
    onProgress: (progress) => console.log(line(name, progress)),
  });
  console.log(line(name, result));
  writeCorpus(GROWN, name, result.corpus);
  if (values.keep) writeCorpus(KEPT, name, smallest(target, result.corpus));
  for (const { what, message, input } of result.findings) {
    console.log(`  ${what}: ${message}\n    ${Buffer.from(input).toString('base64')}`);
    process.exitCode = 1;
  }
  const found = result.findings.map((each) => Buffer.from(each.input).toString('base64'));
  if (found.length > 0) writeFileSync(join(GROWN, `${name}-findings.txt`), found.join('\n'));
}

function line(name: string, { executions, reached, corpus, findings }: FuzzResult): string {
  return `${name}: ${executions} executions, ${reached} branches, corpus ${corpus.length}, findings ${findings.length}`;
}

/** The smallest inputs first: each is kept that reaches a branch which none before it reached. */
function smallest(target: Target, corpus: readonly Uint8Array[]): readonly Uint8Array[] {
  const reached = new Set<number>();
  return corpus
    .toSorted((a, b) => a.length - b.length)
    .filter((input) => {
      counters.fill(0);
      try {
        target.run(input);
      } catch {
        // What it throws was judged when it was found.
      }
      const before = reached.size;
      counters.forEach((count, index) => {
        if (count > 0) reached.add(index);
      });
      return reached.size > before;
    });
}
