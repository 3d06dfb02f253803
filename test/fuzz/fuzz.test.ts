// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EDGES, branches, counters } from './instrument.ts';
import { KEPT, readCorpus } from './corpus.ts';
import { fuzz, type Target } from './engine.ts';

// After instrument.ts: only what is loaded later is counted.
const { TARGETS } = await import('./targets/index.ts');

/** Of each parser, beside what is kept: a second or two. `make fuzz` has hours. */
const INPUTS = 15_000;
/** YAML takes a millisecond a file. */
const SLOW_INPUTS = 1_500;

for (const target of TARGETS) {
  test(`${target.name}: no input throws an undocumented error`, () => {
    const corpus = readCorpus(KEPT, target.name);
    const most = target.name === 'signer' ? SLOW_INPUTS : INPUTS;
    const { findings } = fuzz(target, { seed: 1, maxInputs: most + corpus.length, corpus });
    // `make fuzz` judges the time that an input takes: here a busy machine would decide.
    const thrown = findings.filter(({ what }) => what === 'throws');
    assert.deepEqual(
      thrown.map(({ message, input }) => `${message}: ${Buffer.from(input).toString('base64')}`),
      [],
    );
  });

  test(`${target.name}: every seed is an input that the parser reads or refuses`, () => {
    assert.ok(target.seeds.length > 0);
    for (const seed of target.seeds) {
      try {
        target.run(seed);
      } catch (error) {
        assert.ok(target.isExpected(error), String(error));
      }
    }
  });
}

test('counts exactly the branches of src, each by a counter of its own', () => {
  assert.ok(branches() > 1_000 && branches() < EDGES, String(branches()));
});

/** All four letters in a row: by chance alone, one input in some ten thousand millions. */
const planted: Target = {
  name: 'planted',
  seeds: [Buffer.from('0000')],
  words: ['b', 'a', 'n', 'g'],
  maxBytes: 8,
  isExpected: () => false,
  run: (input) => {
    const text = Buffer.from(input).toString('latin1');
    'bang'.split('').every((letter, index) => {
      const isThere = text[index] === letter;
      if (isThere) counters[index] = 1;
      return isThere;
    });
    if (text.startsWith('bang')) throw new Error('planted');
  },
};

test('a fault behind four branches is found, since each branch on the way is kept', () => {
  const { findings } = fuzz(planted, { seed: 3, maxInputs: 40_000, corpus: [] });
  assert.match(findings[0]?.message ?? '', /planted/);
  assert.match(Buffer.from(findings[0]?.input ?? []).toString(), /^bang/);
});

test('an input that is slow each time is a finding', () => {
  const slow: Target = {
    ...planted,
    run: () => {
      const start = process.threadCpuUsage().user;
      while (process.threadCpuUsage().user - start < 25_000);
    },
  };
  const { findings } = fuzz(slow, { seed: 1, maxInputs: 1, corpus: [] });
  assert.equal(findings[0]?.what, 'slow');
});
