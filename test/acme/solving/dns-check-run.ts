// SPDX-License-Identifier: Apache-2.0
/**
 * The self-check of DNS-01 with two real servers of one zone, of different authors: ISC BIND and
 * Knot DNS.
 */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Exchange } from '#base/egress/exchange.ts';
import { createRfc2136Solver } from '#acme/solving/dns01/rfc2136.ts';
import { createSelfCheck, type ToCheck } from '#acme/solving/index.ts';
import { ALLOW_A_NETWORK } from '#acme/solving/messages.ts';
import { parseNetwork } from '#base/egress/networks.ts';
import { makeDirectory, removeDirectory } from '../../cluster/directory.ts';
import { freePort } from '../../cluster/ports.ts';
import { startBind, startKnot, type DnsServer } from '../../dns/server.ts';
import { challengeFor, contextWith, openHttp } from './solver-context.ts';

const BIND = '127.0.0.1';
const KNOT = '127.0.1.2';
const NOBODY = '127.0.1.3';
const VALUE = 'v'.repeat(43);
const OTHER = 'o'.repeat(43);
const ZONES = {
  'example.test': [
    '@ NS ns1',
    '@ NS ns2',
    `ns1 A ${BIND}`,
    `ns2 A ${KNOT}`,
    'www A 127.0.1.9',
    'hop CNAME found.inner.test.',
  ],
  'chained.test': ['@ NS ns1', `ns1 A ${BIND}`, '_acme-challenge CNAME hop.example.test.'],
  'inner.test': ['@ NS hidden', `hidden A ${NOBODY}`, `found TXT ${'s'.repeat(43)}`],
  'delegating.test': ['@ NS ns1', `ns1 A ${BIND}`, '_acme-challenge CNAME d1.example.test.'],
  'half.test': [
    '@ NS ns1',
    '@ NS ns2',
    '@ NS ns3.example.test.',
    `ns1 A ${BIND}`,
    `ns2 A ${NOBODY}`,
  ],
  'wild.test': ['@ NS ns1', `ns1 A ${BIND}`, '* CNAME www.example.test.'],
  'leaving.test': ['@ NS ns1', `ns1 A ${BIND}`, '_acme-challenge CNAME d.nowhere.test.'],
  'lame.test': ['@ NS ns1.example.test.', '@ NS ns2.example.test.'],
};
const never = new AbortController().signal;

let directory: string;
let port: number;
let bind: DnsServer;
let knot: DnsServer;
let http: Exchange;

before(async () => {
  directory = makeDirectory();
  http = openHttp();
  port = await freePort();
  const updates = { zones: Object.keys(ZONES) };
  const [example, delegating] = [ZONES['example.test'], ZONES['delegating.test']];
  [bind, knot] = await Promise.all([
    startBind({ directory: join(directory, 'bind'), address: BIND, port, zones: ZONES, updates }),
    startKnot({
      directory: join(directory, 'knot'),
      address: KNOT,
      port,
      zones: { 'example.test': example, 'delegating.test': delegating },
      updates,
    }),
  ]);
});
after(async () => {
  await Promise.all([bind, knot].map((server) => server.stop()));
  await http.close();
  removeDirectory(directory);
});

function write(server: DnsServer, dnsName: string, value: string): Promise<unknown> {
  const solver = createRfc2136Solver({ server: server.at }, contextWith(http, [server.at], {}));
  return solver.present(challengeFor(dnsName, value), never);
}

function check(
  dnsName: string,
  more: Partial<ToCheck> = {},
  networks: readonly string[] = ['127.0.0.0/8'],
): Promise<string | undefined> {
  const selfCheck = createSelfCheck({
    http,
    resolvers: [bind.at],
    now: Date.now,
    allowed: networks.map(parseNetwork),
    authoritativePort: port,
  });
  const base = { type: 'dns-01', dnsName, wildcard: false, key: VALUE } as const;
  return selfCheck({ ...base, presentedAt: Date.now(), ...more }, never);
}

const LONG_AGO = { presentedAt: Date.now() - 3_600_000 };

test('every server of the zone is queried; a differing one is named with its answer', async () => {
  assert.equal(
    await check('a.example.test'),
    `the TXT record _acme-challenge.a.example.test is not seen on 2 of 2 servers of example.test: ns1.example.test (${BIND}) answers that there is no such name; ns2.example.test (${KNOT}) answers that there is no such name`,
  );
  await write(bind, 'a.example.test', VALUE);
  await write(knot, 'a.example.test', OTHER);
  assert.equal(
    await check('a.example.test'),
    `the TXT record _acme-challenge.a.example.test is not seen on 1 of 2 servers of example.test: ns2.example.test (${KNOT}) answers 1 other value`,
  );
  await write(knot, 'a.example.test', VALUE);
  assert.equal(await check('a.example.test'), undefined);
});

test('other values are counted, and not repeated', async () => {
  await write(bind, 'b.example.test', VALUE);
  await write(knot, 'b.example.test', 'v=spf1 a secret of somebody');
  const says = await check('b.example.test');
  assert.match(says ?? '', /answers 1 other value$/);
});

test('a delegation by CNAME is followed to the servers of its zone, and shown', async () => {
  assert.match(
    (await check('delegating.test')) ?? '',
    /^the TXT record _acme-challenge\.delegating\.test \(CNAME to d1\.example\.test\) is not seen on 2 of 2 servers of example\.test: /,
  );
  await write(bind, 'delegating.test', VALUE);
  await write(knot, 'delegating.test', VALUE);
  assert.equal(await check('delegating.test'), undefined);
});

test('beside a wildcard the record is expected at the name itself, and found there', async () => {
  assert.equal(
    await check('wild.test'),
    `the TXT record _acme-challenge.wild.test (at the name itself: its CNAME to www.example.test comes from a wildcard) is not seen on 1 of 1 server of wild.test: ns1.wild.test (${BIND}) answers that the name has no TXT record`,
  );
  await write(bind, 'wild.test', VALUE);
  assert.equal(await check('wild.test'), undefined);
});

test('a silent server is awaited at first, then skipped, but never all of them', async () => {
  await write(bind, 'half.test', VALUE);
  assert.equal(
    await check('half.test'),
    `the TXT record _acme-challenge.half.test is not seen on 2 of 3 servers of half.test: ns2.half.test (${NOBODY}) cannot be reached: "connect ECONNREFUSED ${NOBODY}:${port}"; ns3.example.test has no address that may be called; ${ALLOW_A_NETWORK}`,
  );
  assert.equal(await check('half.test', LONG_AGO), undefined);
});

test('a server that has not the zone is as one that is silent', async () => {
  await write(bind, 'lame.test', VALUE);
  assert.match(
    (await check('lame.test')) ?? '',
    new RegExp(
      `on 1 of 2 servers of lame\\.test: ns2\\.example\\.test \\(${KNOT}\\) answers REFUSED$`,
    ),
  );
  assert.equal(await check('lame.test', LONG_AGO), undefined);
});

test('a name whose zone nobody has', async () => {
  assert.equal(
    await check('www.nowhere.test'),
    `cannot find the zone of _acme-challenge.www.nowhere.test: the resolver ${bind.at} answers REFUSED`,
  );
});

test('resolvers that the solver names are asked instead', async () => {
  await write(bind, 'c.example.test', VALUE);
  const by = (...nameservers: string[]): Promise<string | undefined> =>
    check('c.example.test', { settings: { nameservers } });
  assert.equal(await by(bind.at), undefined);
  assert.equal(
    await by(bind.at, knot.at),
    `the TXT record _acme-challenge.c.example.test is not seen on 1 of 2 servers that the solver names: ${knot.at} answers that there is no such name`,
  );
  assert.match(
    (await by('no host')) ?? '',
    /on 1 of 1 server that the solver names: no host is not host:port$/,
  );
});

test('a named server that does not follow a CNAME is named as no resolver', async () => {
  const says = await check('chained.test', { settings: { nameservers: [bind.at] } });
  assert.match(says ?? '', /is not seen on 1 of 1 server that the solver names: /);
  const outside = await check('leaving.test', { settings: { nameservers: [bind.at] } });
  assert.equal(
    outside,
    `the TXT record _acme-challenge.leaving.test is not seen on 1 of 1 server that the solver names: ${bind.at} answers with a CNAME and does not follow it; name resolvers that recurse in selfCheck.nameservers`,
  );
});

test('a record of dns-persist-01 is verified, and printed where it is missing', async () => {
  const accountUrl = 'https://acme.example/account/1';
  const persist = { accountUrl, issuers: ['ca.example'] };
  const proof = { type: 'dns-persist-01', key: undefined, persist, settings: {} } as const;
  const missing = await check('p.example.test', proof);
  assert.match(
    missing ?? '',
    /^the TXT record _validation-persist\.p\.example\.test is not seen .*\. Write this record: _validation-persist\.p\.example\.test\. IN TXT "ca\.example; accounturi=https:\/\/acme\.example\/account\/1"$/,
  );
});

test('a wait instead of a check', async () => {
  const settings = { waitInstead: '1h' };
  const presentedAt = Date.now();
  const until = new Date(presentedAt + 3_600_000).toISOString();
  assert.equal(
    await check('a.example.test', { settings, presentedAt }),
    `waits 1h instead of a check, until ${until}`,
  );
  assert.equal(
    await check('nowhere.test', { settings, presentedAt: presentedAt - 3_600_000 }),
    undefined,
  );
  assert.equal(await check('nowhere.test', { settings: { waitInstead: '0s' } }), undefined);
});

test('HTTP-01 is behind the same door: addresses are those that the resolvers say', async () => {
  const token = 'tok-1';
  const says = await check('www.example.test', { type: 'http-01', token, key: 'tok-1.thumb' });
  assert.match(
    says ?? '',
    /^the file is not there: 127\.0\.1\.9 of "www\.example\.test" cannot be reached: /,
  );
  assert.match(
    (await check('none.example.test', { type: 'http-01', token })) ?? '',
    /"none\.example\.test" has no address that may be called/,
  );
});

test('no packet goes to a zone’s non-Internet server unless its network is allowed', async (t) => {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  const packets: Buffer[] = [];
  socket.on('message', (packet) => packets.push(packet));
  socket.bind(port, NOBODY);
  await once(socket, 'listening');
  assert.equal(
    await check('half.test', {}, ['127.0.0.0/24']),
    `the TXT record _acme-challenge.half.test is not seen on 2 of 3 servers of half.test: ns2.half.test has no address that may be called; ns3.example.test has no address that may be called; ${ALLOW_A_NETWORK}`,
  );
  assert.deepEqual(packets, []);
  await check('half.test', {}, ['127.0.0.0/24', NOBODY]);
  assert.notDeepEqual(packets, []);
});

test('a server that is refused and one without an address read alike', async () => {
  const refused = await check('www.example.test', { type: 'http-01', token: 't' }, []);
  const absent = await check('none.example.test', { type: 'http-01', token: 't' }, []);
  assert.equal(refused, absent?.replace('none', 'www'));
});

test('names and values behind the requester’s own CNAME are not repeated', async () => {
  for (const networks of [[], ['127.0.0.0/8']])
    for (const settings of [undefined, { nameservers: [bind.at] }]) {
      const says = (await check('chained.test', { settings }, networks)) ?? '';
      assert.match(says, /^the TXT record _acme-challenge\.chained\.test/);
      assert.doesNotMatch(says, /found|inner|hidden|ssss/);
    }
});
