// SPDX-License-Identifier: Apache-2.0
/** Flags that contradict each other end the component before it starts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import type { Host } from '#component/host.ts';
import type { FederationFlags } from '#trust/federation/flags.ts';
import { run } from '#trust/federation/run.ts';

const partner = { trustDomain: 'partner.example' };

const wrong: [law: string, flags: object, message: RegExp][] = [
  ['a domain twice', { federate: [partner, partner] }, /names partner.example twice/],
  [
    'a domain of our own',
    { federate: [partner], ownTrustDomain: ['partner.example'] },
    /a foreign bundle never replaces your own/,
  ],
  [
    'a domain that ends and goes on',
    { federate: [partner], endedTrustDomain: ['partner.example'] },
    /leave one of them out/,
  ],
  [
    'too many domains',
    { federate: Array.from({ length: 65 }, (_, index) => ({ trustDomain: `${index}.example` })) },
    /names 65 trust domains; 64 are the most/,
  ],
];

for (const [law, flags, message] of wrong) {
  test(`federation does not start with ${law}`, async () => {
    let started = 0;
    const host = {
      flags: { federate: [], ownTrustDomain: [], endedTrustDomain: [], ...flags },
      run: () => Promise.resolve(void (started += 1)),
    } as unknown as Host<FederationFlags>;
    await assert.rejects(run(host), (error) => {
      assert.ok(error instanceof SignerError);
      assert.equal(error.code, 'USAGE');
      assert.match(error.message, message);
      return true;
    });
    assert.equal(started, 0);
  });
}
