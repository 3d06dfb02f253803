// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { encodePem } from '#pki/der/pem.ts';
import { certificate } from './corpus/bases.ts';
import { judgedBy, type Comparison } from './compare.ts';
import { holdLaw } from './law.ts';
import { mutationsOf } from './length.ts';
import { diceOf } from './mutants.ts';
import { mutateText } from './mutate-text.ts';
import type { Answer } from './oracle.ts';
import { ourBundlePem, ourRequestPem, type Verdict } from './ours.ts';
import { seedsOf } from './seeds.ts';

type Read = Verdict & { readonly der?: Uint8Array };

const mutants =
  (texts: readonly Uint8Array[]) =>
  (number: number): Uint8Array => {
    const dice = diceOf(number);
    let text = dice.of(texts);
    for (let times = 1 + dice.roll(3); times > 0; times--) text = mutateText(text, dice);
    return text;
  };

/** What both read must be the same octets. */
const sameAs =
  (read: (text: string) => Read) =>
  (input: Uint8Array, { reason }: Answer): string | undefined => {
    const { der } = read(Buffer.from(input).toString('latin1'));
    const digest = createHash('sha256')
      .update(der ?? '')
      .digest('hex');
    return digest === reason ? undefined : 'Go reads other octets';
  };

const reading = (
  input: (number: number) => Uint8Array,
  read: (text: string) => Read,
): Pick<Comparison, 'made' | 'same'> => ({
  made: judgedBy(input, (text) => read(Buffer.from(text).toString('latin1'))),
  same: sameAs(read),
});

const requests = mutationsOf('pem');
const bundles = mutationsOf('bundles');

test(`Go reads ${requests} mutated PEM requests as we do`, async (t) => {
  const input = mutants(seedsOf('pem').map(({ bytes }) => bytes));
  await holdLaw(t, { count: requests, kind: 'p', ...reading(input, ourRequestPem) });
});

test(`Go reads ${bundles} mutated bundles as we do`, async (t) => {
  const block = encodePem('CERTIFICATE', certificate());
  const input = mutants(
    [block, block + block, `${block}\n\n${block}`].map((text) => Buffer.from(text)),
  );
  await holdLaw(t, { count: bundles, kind: 'b', ...reading(input, ourBundlePem) });
});
