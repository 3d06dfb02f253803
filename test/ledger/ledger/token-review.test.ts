// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthorizer } from '#ledger/ledger/api/access-review.ts';
import { TooManyLookupsError } from '#ledger/ledger/caller-lookups.ts';
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
    if (token !== 'a.good.b') return { status: { authenticated: false } };
    const user = { username: 'system:serviceaccount:countersign-system:countersign-signer' };
    return { status: { authenticated: true, audiences: [APPEND_AUDIENCE], user } };
  });
  const authenticate = createTokenAuthenticator({ client, clock: () => 0 });
  assert.match((await authenticate('a.good.b'))?.username ?? '', /countersign-signer$/);
  for (let n = 0; n < GARBAGE; n += 1)
    assert.equal(await authenticate(`a.garbage-${n}.b`), undefined);
  const before = reviews;
  assert.match((await authenticate('a.good.b'))?.username ?? '', /countersign-signer$/);
  assert.equal(await authenticate(`a.garbage-${GARBAGE - 1}.b`), undefined);
  assert.equal(reviews, before);
});

test('a token that is no JWT costs no review', async () => {
  const { client } = recordedComponent();
  const authenticate = createTokenAuthenticator({ client, clock: () => 0 });
  for (const token of ['', 'a', 'a.b', 'a.b.', 'a.b.c.d', 'a.b.c/d', 'a.b.c\n'])
    assert.equal(await authenticate(token), undefined, token);
  assert.equal(client.requests.length, 0);
});

/** An authenticator whose reviews end when the test ends them. */
function reviewing(): {
  readonly authenticate: ReturnType<typeof createTokenAuthenticator>;
  readonly tokens: string[];
  readonly ends: (() => void)[];
  readonly passTime: (milliseconds: number) => void;
} {
  const { client } = recordedComponent();
  const [tokens, ends]: [string[], (() => void)[]] = [[], []];
  let now = 0;
  client.answer(async ({ body }) => {
    tokens.push((body as { spec: { token: string } }).spec.token);
    await new Promise<void>((resolve) => ends.push(resolve));
    return {
      status: { authenticated: true, audiences: [APPEND_AUDIENCE], user: { username: 'x' } },
    };
  });
  const passTime = (milliseconds: number): void => {
    now += milliseconds;
  };
  const authenticate = createTokenAuthenticator({ client, clock: () => now });
  return { authenticate, tokens, ends, passTime };
}

/** Lets everything continue that waits for no review. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('concurrent uses of one token share a review', async () => {
  const { authenticate, tokens, ends } = reviewing();
  const uses = Array.from({ length: 100 }, () => authenticate('a.b.c'));
  await settled();
  assert.deepEqual([...new Set(tokens)], ['a.b.c']);
  assert.equal(tokens.length, 1);
  ends[0]?.();
  for (const caller of await Promise.all(uses)) assert.equal(caller?.username, 'x');
});

test('16 unknown tokens are reviewed at a time, and 16 more of an address wait', async () => {
  const { authenticate, tokens, ends } = reviewing();
  const outcomes = Array.from({ length: 40 }, (_, n) =>
    authenticate(`a.${n}.c`, '10.0.0.1').then(
      () => 200,
      (error: unknown) => (error instanceof TooManyLookupsError ? 503 : error),
    ),
  );
  const other = authenticate('a.other.c', '10.0.0.2');
  await settled();
  assert.equal(tokens.length, 16);
  ends.shift()?.();
  await settled();
  ends.shift()?.();
  await settled();
  assert.equal(tokens.indexOf('a.other.c'), 17);
  while (ends.length > 0) {
    ends.shift()?.();
    await settled();
  }
  assert.equal((await other)?.username, 'x');
  const counted = await Promise.all(outcomes);
  assert.deepEqual(counted, [...Array<number>(32).fill(200), ...Array<number>(8).fill(503)]);
});

test('unknown tokens do not delay the review of a token that was accepted before', async () => {
  const { authenticate, tokens, ends, passTime } = reviewing();
  const first = authenticate('a.known.c');
  await settled();
  ends.shift()?.();
  await first;
  passTime(61_000);
  const flood = Array.from({ length: 32 }, (_, n) => authenticate(`a.${n}.c`));
  const again = authenticate('a.known.c');
  await settled();
  assert.equal(tokens.at(-1), 'a.known.c');
  assert.equal(tokens.length, 18);
  while (ends.length > 0) {
    ends.shift()?.();
    await settled();
  }
  assert.equal((await again)?.username, 'x');
  await Promise.all(flood);
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
