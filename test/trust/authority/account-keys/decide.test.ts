// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AcmeSignerStatus } from '#api/acme/acme-signer.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { decideAccountKey, type AccountKeyStep } from '#trust/authority/account-keys/decide.ts';
import { acmeObject } from '../../../api/acme/build.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const BEFORE = '2026-11-22T11:00:00Z';
const LATER = '2026-11-22T13:00:00Z';
const OWN = { 'countersign.dev/signer-name': 'example.com/public' };
const reference = { namespace: 'countersign-keys', name: 'account' };

interface Given {
  readonly wishes?: Readonly<Record<string, string>>;
  readonly status?: AcmeSignerStatus;
  readonly data?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly isMissing?: boolean;
  readonly nextThumbprint?: string;
}

function decided(given: Given): AccountKeyStep {
  const object = acmeObject({}, 'example.com/public');
  const annotations = Object.fromEntries(
    Object.entries(given.wishes ?? {}).map(([name, time]) => [`countersign.dev/${name}`, time]),
  );
  const signer = readAcmeSigner({
    ...object,
    metadata: { ...object.metadata, annotations },
    status: given.status ?? {},
  });
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...reference,
      uid: 's',
      resourceVersion: '1',
      creationTimestamp: '2026-11-22T10:00:00Z',
      annotations: given.annotations ?? OWN,
    },
    data: given.data ?? { 'tls.key': 'a' },
  };
  return decideAccountKey({
    signer,
    reference,
    now: NOW,
    nextThumbprint: given.nextThumbprint,
    secret: given.isMissing === true ? undefined : secret,
  });
}

const ACCOUNT = { url: 'https://acme.example/1', keyThumbprint: 'old' };
const NEXT = { 'tls.key': 'a', 'next.key': 'b' };

const cases: readonly (readonly [what: string, given: Given, kind: AccountKeyStep['kind']])[] = [
  ['a Secret that is missing is made', { isMissing: true }, 'make'],
  ['one that was left empty for this signer is filled', { data: {} }, 'fill'],
  ['one that is not this signer’s is left alone', { annotations: {}, data: {} }, 'none'],
  [
    'one of another signer gets no new key',
    { annotations: {}, wishes: { 'rotate-at': BEFORE } },
    'none',
  ],
  ['a key is left alone while nobody asks', {}, 'none'],
  ['a new key is made where one is asked for', { wishes: { 'prepare-at': BEFORE } }, 'prepare'],
  ['… or a roll-over is', { wishes: { 'rotate-at': BEFORE } }, 'prepare'],
  ['a second one is not', { wishes: { 'prepare-at': BEFORE }, data: NEXT }, 'none'],
  [
    'a key that came into use later satisfies a wish',
    {
      wishes: { 'prepare-at': BEFORE, 'rotate-at': BEFORE },
      annotations: { ...OWN, 'countersign.dev/activated-at': '2026-11-22T11:30:00.000Z' },
    },
    'none',
  ],
  ['a wish that is no time asks for nothing', { wishes: { 'rotate-at': 'soon' } }, 'none'],
  [
    'the old key stays while the account has it',
    {
      data: NEXT,
      nextThumbprint: 'new',
      wishes: { 'rotate-at': BEFORE },
      status: { account: ACCOUNT },
    },
    'none',
  ],
  [
    'it goes once the status says that the account has the new one',
    {
      data: NEXT,
      nextThumbprint: 'new',
      status: { account: { ...ACCOUNT, keyThumbprint: 'new' } },
    },
    'promote',
  ],
  [
    'a key that cannot be read takes no place',
    {
      data: NEXT,
      status: { account: { url: 'x' } },
    },
    'none',
  ],
];

for (const [what, given, kind] of cases) {
  test(what, () => {
    assert.equal(decided(given).kind, kind);
  });
}

test('a wish of the future is looked at when it is due', () => {
  const step = decided({ wishes: { 'prepare-at': LATER } });
  assert.deepEqual(step, { kind: 'none', lookAt: Date.parse(LATER) });
});

test('an account that lost its key gets no other, and a message says what to do', () => {
  for (const given of [{ isMissing: true }, { data: {} }]) {
    const step = decided({ ...given, status: { account: ACCOUNT } });
    assert.equal(step.kind, 'lost');
    assert.match(
      'message' in step ? step.message : '',
      /^Secret countersign-keys\/account has no key any more, .*restore the Secret from a copy, .*countersign account-key web/,
    );
  }
});
