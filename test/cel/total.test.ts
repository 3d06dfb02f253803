// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileExpression, type CompiledExpression } from '#cel/compile.ts';
import { selfOf } from '#cel/environments.ts';
import { SignerError } from '#base/errors.ts';
import { request } from './request.ts';

/** Pieces that make well-formed expressions often enough. */
const PIECES = [
  'self',
  'csr',
  'request',
  '.subject',
  '.commonName',
  '.groups',
  '.extra',
  '.dnsNames',
  '.key',
  '.size',
  '[0]',
  "['a']",
  "'a'",
  "''",
  '1',
  '-',
  '!',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ':',
  ',',
  '==',
  '!=',
  '<',
  '+',
  '*',
  '/',
  '&&',
  '||',
  '?',
  ' in ',
  'true',
  'null',
  '1.5',
  '2u',
  "b'a'",
  '.all(x, ',
  '.map(x, ',
  '.filter(x, ',
  '.exists_one(x, ',
  'x',
  'has(',
  'size(',
  'string(',
  '.matches(',
  '.find(',
  "'(a+)+$'",
  '.split(',
  '.format([',
  'ip(',
  'cidr(',
  'url(',
  'quantity(',
  'sets.contains(',
  '.getHost()',
  '.trim()',
  'dyn(',
  'type(',
  'int',
  'cel.bind(x, ',
  '\n',
  '$',
  '"',
];

/** SignerError or nothing: a bug of the library must not look like a broken component. */
function onlySignerErrors<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (error instanceof SignerError && error.disposition === 'wait') return undefined;
    throw error;
  }
}

function compileAny(source: string): CompiledExpression<boolean> | undefined {
  const spec = {
    source,
    where: 'here',
    environment: selfOf('commonName'),
    result: 'bool',
  } as const;
  return onlySignerErrors(() => compileExpression(spec));
}

test('any text compiles or is refused; then it gives a bool or an error that waits', () => {
  let compiled = 0;
  const variables = { ...request({ username: 'a', groups: ['a'], dnsNames: ['a'] }), self: 'a' };
  const sources = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(sources, (pieces) => {
      for (const source of [pieces.join(''), `${pieces.join('')} == ${pieces.join('')}`]) {
        const expression = compileAny(source);
        if (expression === undefined) continue;
        compiled += 1;
        const value = onlySignerErrors(() => expression.evaluate(variables));
        assert.ok(value === undefined || typeof value === 'boolean', source);
      }
    }),
    { seed: 4, numRuns: 20_000 },
  );
  assert.ok(compiled > 500, `only ${compiled} compiled`);
});
