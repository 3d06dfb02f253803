// SPDX-License-Identifier: Apache-2.0
/** What Node.js takes for an address is judged, however it is written. */
import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { connectGuard } from '#base/egress/connect-guard.ts';
import { parseNetwork } from '#base/egress/networks.ts';

const WORDS = { called: 'servers', flag: '--network' };
const guard = connectGuard([parseNetwork('127.0.0.0/8'), parseNetwork('fe80::/10')], WORDS);

// Node.js connects to these without a look-up, so nothing else would judge them.
for (const host of ['::1%lo', 'fe80::1%eth0', '::ffff:169.254.169.254%1', 'fd00::1%2'])
  test(`${host} is not called: its zone is an interface of this machine`, () => {
    assert.equal(isIP(host), 6);
    assert.match(guard.refusalOf(host) ?? 'called', /names an interface of this machine/);
    assert.match(guard.refusalOf(`[${host}]`) ?? 'called', /names an interface of this machine/);
  });

for (const host of ['fd00::1', '[fd00::1]', '::ffff:10.0.0.1', '10.0.0.1'])
  test(`${host} is not called`, () => {
    assert.match(guard.refusalOf(host) ?? 'called', /a private network/);
  });

for (const host of ['127.1', '0x7f000001', '2130706433', 'localhost'])
  test(`${host} is a name, whose addresses are judged where it is looked up`, () => {
    assert.equal(isIP(host), 0);
    assert.equal(guard.refusalOf(host), undefined);
    return new Promise((resolve, reject) => {
      connectGuard([], WORDS).lookup(host, {}, (error) => {
        if (error === null) reject(new Error(`${host} has an address that is called`));
        else resolve();
      });
    });
  });
