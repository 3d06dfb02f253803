// SPDX-License-Identifier: Apache-2.0
/**
 * A call of an address without a route takes seconds. So the self-check, which is repeated until it
 * passes, calls it again only where the address decides, or after a minute.
 */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { parseNetwork } from '#base/egress/networks.ts';
import { formatIp } from '#base/ip.ts';
import type { AddressAnswer } from '#acme/solving/http/ask-address.ts';
import { checkHttp01 } from '#acme/solving/http/self-check.ts';
import { createUnreachableAddresses } from '#acme/solving/http/unreachable-addresses.ts';

const FILE = { dnsName: 'a.example.com', token: 'tok-1', key: 'tok-1.thumbprint' };
const SERVED: AddressAnswer = { kind: 'body', body: Buffer.from(FILE.key) };
const MISSING: AddressAnswer = { kind: 'problem', problem: 'answered 404' };
const DEAD: AddressAnswer = { kind: 'unreachable', problem: 'is unreachable (EHOSTUNREACH)' };
const [ALIVE, ROUTELESS] = ['127.0.0.1', '::1'];
const ALLOWED = [ALIVE, ROUTELESS].map(parseNetwork);

let now: number;
let unreachable: ReturnType<typeof createUnreachableAddresses>;
let calls: string[];
let answers: Record<string, AddressAnswer | ((url: URL) => AddressAnswer)>;

beforeEach(() => {
  now = 0;
  unreachable = createUnreachableAddresses(() => now);
  calls = [];
  answers = { [ALIVE]: MISSING, [ROUTELESS]: DEAD };
});

function check(addresses: readonly string[] = [ALIVE, ROUTELESS]): Promise<string | undefined> {
  return checkHttp01(FILE, {
    resolve: () => Promise.resolve(addresses),
    allowed: ALLOWED,
    unreachable,
    call: ({ address, port, url }) => {
      const text = formatIp(address) ?? '';
      calls.push(`${text} ${port}`);
      const answer = answers[text] ?? DEAD;
      return Promise.resolve(typeof answer === 'function' ? answer(url) : answer);
    },
  });
}

const callsOf = (address: string): number =>
  calls.filter((each) => each.startsWith(`${address} `)).length;

test('ten checks call an address without a route once, and each names it', async () => {
  for (let round = 0; round < 10; round += 1) {
    assert.match((await check()) ?? '', /answered 404.*EHOSTUNREACH/);
  }
  assert.deepEqual([callsOf(ALIVE), callsOf(ROUTELESS)], [10, 1]);
});

test('redirects within one check call it once for each port', async () => {
  const target = (url: URL): AddressAnswer =>
    url.pathname === '/4'
      ? SERVED
      : { kind: 'redirect', location: `/${Number(url.pathname.slice(1)) + 1 || 1}` };
  answers = { [ALIVE]: target, [ROUTELESS]: DEAD };
  assert.equal(await check(), undefined);
  assert.deepEqual([callsOf(ALIVE), callsOf(ROUTELESS)], [5, 1]);
});

test('an address that decides is called in each check, and passes once it serves', async () => {
  assert.match((await check([ROUTELESS])) ?? '', /EHOSTUNREACH/);
  answers[ROUTELESS] = SERVED;
  assert.equal(await check([ROUTELESS]), undefined);
  assert.equal(callsOf(ROUTELESS), 2);
});

test('an address that decides and now answers something else fails the check', async () => {
  await check([ROUTELESS]);
  answers[ROUTELESS] = MISSING;
  assert.match((await check([ROUTELESS])) ?? '', /answered 404/);
});

test('after a minute the address is called again', async () => {
  await check();
  now = 59_999;
  await check();
  assert.equal(callsOf(ROUTELESS), 1);
  now = 60_000;
  await check();
  assert.equal(callsOf(ROUTELESS), 2);
});
