// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { KubeError, type StatusCause } from '#kube/client/kube-error.ts';
import { toOutcome } from '#requests/loop/error-outcome.ts';

const answer = (status: number, causes: readonly StatusCause[] = [], reason = ''): KubeError =>
  new KubeError({
    status,
    what: 'PUT /x',
    body: { reason, message: 'the server’s own words', details: { causes } },
  });

/** Passes by itself in a moment. */
const quiet: [law: string, error: KubeError][] = [
  ['a conflict', answer(409, [], 'Conflict')],
  ['what was made already', answer(409, [], 'AlreadyExists')],
  ['what is gone', answer(404)],
  ['a server that asks for patience', answer(429)],
  ['a server that is ill', answer(503)],
  ['a server that is away', new KubeError({ status: 0, what: 'PUT /x', cause: 'cut' })],
  ['a token that has run out', answer(401)],
];

for (const [law, error] of quiet) {
  test(`waits without an Event: ${law}`, () => {
    const { outcome, event, message } = toOutcome(error, 'signer', -412_000);
    assert.deepEqual([outcome, event], ['waiting', undefined]);
    assert.equal(message, error.message);
  });
}

/** Somebody has to do something. */
const loud: [law: string, error: SignerError, reason: string, note: RegExp][] = [
  [
    'a permission is missing, and the message names the role',
    answer(403),
    'MissingPermissions',
    /ClusterRole countersign-signer \(rbac\/signer\.yaml.*the server’s own words/,
  ],
  [
    'the right to sign is missing, which a PodCertificateRequest’s status answers with 422',
    answer(422, [{ reason: 'FieldValueForbidden', field: 'spec.signerName' }]),
    'MissingPermissions',
    /a permission is missing/,
  ],
  [
    'the clocks are apart: notBefore is refused',
    answer(422, [{ reason: 'FieldValueInvalid', field: 'status.notBefore' }]),
    'ClockSkew',
    /five minutes from its clock: the local clock is 412 s behind the API server's/,
  ],
  [
    'any other field is refused',
    answer(422, [{ reason: 'FieldValueInvalid', field: 'status.certificateChain' }]),
    'KubeInvalid',
    /the server’s own words/,
  ],
  [
    'the CA is not published yet',
    new SignerError({ code: 'ANCHOR_NOT_SERVED', disposition: 'authority', message: 'not yet' }),
    'AnchorNotServed',
    /^not yet$/,
  ],
  [
    'an expression fails',
    new SignerError({ code: 'CEL_EVALUATION', disposition: 'wait', message: 'no such key' }),
    'CelEvaluation',
    /^no such key$/,
  ],
];

for (const [law, error, reason, note] of loud) {
  test(`waits with an Event: ${law}`, () => {
    const { outcome, event, ...said } = toOutcome(error, 'signer', -412_000);
    assert.equal(outcome, 'waiting');
    assert.deepEqual([said.reason, event?.reason, event?.type], [reason, reason, 'Warning']);
    assert.match(event?.note ?? '', note);
    assert.equal(said.message, event?.note);
  });
}

test('no error fails a request, not even a permanent one', () => {
  const never = new SignerError({ code: 'DER_MALFORMED', disposition: 'fail', message: 'no' });
  const { outcome, written } = toOutcome(never, 'signer', -412_000);
  assert.deepEqual([outcome, written], ['waiting', undefined]);
});
