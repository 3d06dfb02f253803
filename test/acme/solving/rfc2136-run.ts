// SPDX-License-Identifier: Apache-2.0
/**
 * Dynamic updates of real servers: ISC BIND and Knot DNS. What is there afterwards is what the
 * servers themselves say.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Exchange } from '#base/egress/exchange.ts';
import { createRfc2136Solver, type Rfc2136Settings } from '#acme/solving/dns01/rfc2136.ts';
import type { SolverOutcome } from '#acme/solving/solver.ts';
import { makeDirectory, removeDirectory } from '../../cluster/directory.ts';
import { freePort } from '../../cluster/ports.ts';
import { startBind, startKnot, type DnsServer, type UpdateKey } from '../../dns/server.ts';
import { challengeFor, contextWith, openHttp } from './solver-context.ts';

const KEY: UpdateKey = {
  name: 'acme-key',
  algorithm: 'HMAC-SHA512',
  secret: Buffer.alloc(64, 7).toString('base64'),
};
const NAME = '_acme-challenge.www.example.test';
const ZONES = {
  'example.test': [
    '@ NS ns1',
    'ns1 A 127.0.0.1',
    '_acme-challenge.delegated CNAME d1.acme.other.test.',
    '_acme-challenge.circle CNAME _acme-challenge.circle2',
    '_acme-challenge.circle2 CNAME _acme-challenge.circle',
  ],
  'other.test': ['@ NS ns1', 'ns1 A 127.0.0.1'],
  // Only its owner may update locked.test.
  'wild.test': ['@ NS ns1', 'ns1 A 127.0.0.1', '* CNAME lb.locked.test.'],
  'locked.test': ['@ NS ns1', 'ns1 A 127.0.0.1'],
};
const never = new AbortController().signal;

for (const [peer, start, address] of [
  ['BIND', startBind, '127.0.0.1'],
  ['Knot DNS', startKnot, '127.0.1.2'],
] as const) {
  describe(peer, () => {
    let directory: string;
    let server: DnsServer;
    let http: Exchange;

    before(async () => {
      directory = makeDirectory();
      http = openHttp();
      server = await start({
        directory: join(directory, 'dns'),
        address,
        port: await freePort(),
        zones: ZONES,
        updates: { zones: ['example.test', 'other.test', 'wild.test'], key: KEY },
      });
    });
    after(async () => {
      await server.stop();
      await http.close();
      removeDirectory(directory);
    });

    const tsig = {
      keyName: KEY.name,
      algorithm: KEY.algorithm,
      secret: { name: 'dns' },
    } as const;
    const solve = (
      what: 'present' | 'cleanUp',
      [dnsName, value]: readonly [string, string],
      settings: Partial<Rfc2136Settings> = {},
      { secret = KEY.secret, clock = Date.now } = {},
    ): Promise<SolverOutcome> => {
      const context = { ...contextWith(http, [server.at], { 'dns/tsig': `${secret}\n` }), clock };
      const solver = createRfc2136Solver({ server: server.at, tsig, ...settings }, context);
      return solver[what](challengeFor(dnsName, value), never);
    };
    const refused = async (attempt: Promise<SolverOutcome>): Promise<string> => {
      const outcome = await attempt;
      assert.ok(outcome.kind === 'problem', 'it was done');
      return `${outcome.reason}: ${outcome.message.replaceAll(server.at, 'SERVER')}`;
    };
    const WWW = ['www.example.test', 'value-of-the-base'] as const;
    const STAR = ['www.example.test', 'value-of-the-wildcard'] as const;

    afterEach(async () => {
      for (const each of [WWW, STAR]) await solve('cleanUp', each);
    });

    test('a value is added once, however often it is presented', async () => {
      assert.deepEqual(await solve('present', WWW), { kind: 'done', at: NAME });
      assert.deepEqual(await solve('present', WWW), { kind: 'done', at: NAME });
      assert.deepEqual(await server.txt(NAME), [WWW[1]]);
    });

    test('a wildcard and its base name have two values; cleaning up removes only its own', async () => {
      await solve('present', WWW);
      await solve('present', STAR);
      assert.deepEqual(await server.txt(NAME), [WWW[1], STAR[1]]);
      assert.deepEqual(await solve('cleanUp', WWW), { kind: 'done', at: NAME });
      assert.deepEqual(await server.txt(NAME), [STAR[1]]);
      assert.equal((await solve('cleanUp', WWW)).kind, 'done');
      assert.deepEqual(await server.txt(NAME), [STAR[1]]);
      await solve('cleanUp', STAR);
      assert.deepEqual(await server.txt(NAME), []);
    });

    test('a CNAME is followed into another zone, and shown', async () => {
      const delegated = ['delegated.example.test', 'v'] as const;
      assert.deepEqual(await solve('present', delegated), {
        kind: 'done',
        at: '_acme-challenge.delegated.example.test (CNAME to d1.acme.other.test)',
      });
      assert.deepEqual(await server.txt('d1.acme.other.test'), ['v']);
      await solve('cleanUp', delegated);
      assert.deepEqual(await server.txt('d1.acme.other.test'), []);
    });

    test('a CNAME of a wildcard is not followed: the record is at the name itself', async () => {
      const wild = ['wild.test', 'v'] as const;
      const at =
        '_acme-challenge.wild.test (at the name itself: its CNAME to lb.locked.test comes from a wildcard)';
      assert.deepEqual(await solve('present', wild), { kind: 'done', at });
      assert.deepEqual(await server.txt('_acme-challenge.wild.test'), ['v']);
      assert.equal((await solve('cleanUp', wild)).kind, 'done');
      // The wildcard stands in again (RFC 4592 §2.2).
      assert.deepEqual(await solve('present', wild), { kind: 'done', at });
      await solve('cleanUp', wild);
    });

    test('a circle of CNAMEs ends', async () => {
      const says = await refused(solve('present', ['circle.example.test', 'v']));
      assert.match(
        says,
        peer === 'BIND'
          ? /^LookupFailed: .* answers SERVFAIL$/
          : /^LookupFailed: .* form a circle$/,
      );
    });

    test('a zone that the solver names is taken as it is', async () => {
      assert.equal((await solve('present', WWW, { zone: 'Example.test.' })).kind, 'done');
      const says = await refused(solve('present', WWW, { zone: 'other.test' }));
      assert.equal(
        says,
        `RecordOutsideZone: ${NAME} is not in the zone other.test; correct rfc2136.zone or the selector of the solver`,
      );
    });

    test('a key that the server does not know', async () => {
      const says = await refused(solve('present', WWW, { tsig: { ...tsig, keyName: 'other' } }));
      assert.equal(
        says,
        "TsigRefused: SERVER does not know the TSIG key other with HMAC-SHA512, or not for this zone; correct rfc2136.tsig or the server's keys (BADKEY)",
      );
    });

    test('another secret', async () => {
      const says = await refused(
        solve('present', WWW, {}, { secret: Buffer.alloc(64, 8).toString('base64') }),
      );
      assert.equal(
        says,
        'TsigRefused: SERVER has another secret for the TSIG key acme-key; correct the Secret (BADSIG)',
      );
    });

    test('clocks apart: by how much', async () => {
      const anHourAgo = (): number => Date.now() - 3_600_000;
      const says = await refused(solve('present', WWW, {}, { clock: anHourAgo }));
      assert.equal(
        says,
        'TsigRefused: SERVER has a clock that is 60 minutes ahead of ours; set the clocks (BADTIME)',
      );
    });

    test('a zone that the key may not change', async () => {
      const says = await refused(solve('present', ['www.locked.test', 'v']));
      const expected =
        peer === 'BIND'
          ? 'UpdateRefused: SERVER does not allow TXT records of _acme-challenge.www.locked.test to be changed with the TSIG key acme-key; correct its update policy (REFUSED)'
          : "TsigRefused: SERVER does not know the TSIG key acme-key with HMAC-SHA512, or not for this zone; correct rfc2136.tsig or the server's keys (BADKEY)";
      assert.equal(says, expected);
    });

    test('no key where the server wants one', async () => {
      const unsigned = createRfc2136Solver(
        { server: server.at },
        contextWith(http, [server.at], {}),
      );
      const says = await refused(unsigned.present(challengeFor(...WWW), never));
      assert.match(says, /^UpdateRefused: SERVER .* \((?:REFUSED|NOTAUTH)\)$/);
    });

    test('a zone that the server does not have', async () => {
      const says = await refused(solve('present', ['www.elsewhere.test', 'v']));
      assert.match(says, /^LookupFailed: .* the resolver SERVER answers REFUSED$/);
      const named = await refused(solve('present', WWW, { zone: 'test' }));
      assert.match(named, /^UpdateRefused: SERVER is not the primary of the zone test, .*NOTAUTH/);
    });

    test('a Secret without the key, or with something else', async () => {
      const missing = { ...tsig, secret: { name: 'none' } };
      assert.equal(
        await refused(solve('present', WWW, { tsig: missing })),
        'CredentialUnusable: no key tsig in the Secret none',
      );
      assert.equal(
        await refused(solve('present', WWW, {}, { secret: 'no base64!' })),
        'CredentialInvalid: the key "tsig" of the Secret dns is not the base64 text of a TSIG key',
      );
    });

    test('nobody listens', async () => {
      const zone = 'example.test';
      const dead = `127.0.1.9:${await freePort()}`;
      const says = await refused(solve('present', WWW, { server: dead, zone }));
      assert.match(says, /^ServerUnreachable: 127\.0\.1\.9:\d+ cannot be reached: /);
    });
  });
}
