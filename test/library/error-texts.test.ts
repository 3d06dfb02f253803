// SPDX-License-Identifier: Apache-2.0
/** Errors that an author did not write: of Node, and of programs without types. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyError } from '#library/calls/classify-error.ts';
import {
  IssuerError,
  PermanentError,
  SetConditionError,
  type ConditionOf,
} from '#library/index.ts';

/** As node:net throws it for a host with two addresses (internalConnectMultiple). */
function refusedConnection(): Error {
  const parts = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:8200`));
  return Object.assign(new AggregateError(parts), { code: 'ECONNREFUSED' });
}

const withoutMessage: Readonly<Record<string, readonly [thrown: unknown, text: string]>> = {
  'a refused connection': [refusedConnection(), 'connect ECONNREFUSED ::1:8200'],
  'an issuer error that repeats it': [
    new IssuerError('', { cause: refusedConnection() }),
    'connect ECONNREFUSED ::1:8200',
  ],
  'a condition for it': [
    new SetConditionError(
      { type: 'CaAway', status: 'True', reason: 'Away', message: '' },
      refusedConnection(),
    ),
    'connect ECONNREFUSED ::1:8200',
  ],
  'a code': [Object.assign(new Error(''), { code: 'ERR_TLS' }), 'Error ERR_TLS'],
  'a class': [new RangeError(''), 'RangeError'],
  'an object without a prototype': [Object.create(null), 'an error without a message'],
  'an empty text': ['', 'an error without a message'],
};

for (const [what, [thrown, text]] of Object.entries(withoutMessage)) {
  test(`an error without a message has a text: ${what}`, () => {
    assert.equal(classifyError(thrown).message, text);
  });
}

test('a condition whose status the API server rejects is dropped, its cause stays', () => {
  const condition = { type: 'Said', status: 'yes', reason: 'R', message: 'm' };
  const thrown = classifyError(
    new SetConditionError(condition as unknown as ConditionOf, new PermanentError('no')),
  );
  assert.deepEqual([thrown.how, thrown.condition], ['permanent', undefined]);
});
