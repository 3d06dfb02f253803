// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthorizer } from '#ledger/ledger/api/access-review.ts';
import { createTokenAuthenticator } from '#ledger/ledger/token-review.ts';
import { APPEND_AUDIENCE } from '#ledger/index.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

const GARBAGE = 1_500;

test('rejected tokens evict no accepted one', async () => {
  const { client } = recordedComponent();
  let reviews = 0;
  client.answer(({ body }) => {
    reviews += 1;
    const { token } = (body as { spec: { token: string } }).spec;
    if (token !== 'good') return { status: { authenticated: false } };
    const user = { username: 'system:serviceaccount:countersign-system:countersign-signer' };
    return { status: { authenticated: true, audiences: [APPEND_AUDIENCE], user } };
  });
  const authenticate = createTokenAuthenticator({ client, clock: () => 0 });
  assert.match((await authenticate('good'))?.username ?? '', /countersign-signer$/);
  for (let n = 0; n < GARBAGE; n += 1) assert.equal(await authenticate(`garbage-${n}`), undefined);
  const before = reviews;
  assert.match((await authenticate('good'))?.username ?? '', /countersign-signer$/);
  assert.equal(await authenticate(`garbage-${GARBAGE - 1}`), undefined);
  assert.equal(reviews, before);
});

test('callers without the right evict no answer of a reader', async () => {
  const { client } = recordedComponent();
  let reviews = 0;
  client.answer(({ body }) => {
    reviews += 1;
    return { status: { allowed: (body as { spec: { user: string } }).spec.user === 'reader' } };
  });
  const may = createAuthorizer({ client, clock: () => 0 }, 'read');
  const caller = (username: string): Parameters<typeof may>[0] => ({
    username,
    groups: [],
    extra: {},
  });
  assert.equal(await may(caller('reader'), {}), true);
  for (let n = 0; n < GARBAGE; n += 1) assert.equal(await may(caller(`user-${n}`), {}), false);
  const before = reviews;
  assert.equal(await may(caller('reader'), {}), true);
  assert.equal(reviews, before);
});
