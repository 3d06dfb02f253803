// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { KEY_TYPES } from '#base/vocabulary.ts';
import { NOW } from '../support/ca/issuing.ts';
import { inShortOrLong } from './length.ts';
import { LEAF_KINDS, issuerOf, openAuthorities } from './leaves.ts';
import { diceOf } from './mutants.ts';
import { Openssl } from './openssl.ts';
import { ACCEPTED, chainOf, openOracle } from './oracle.ts';

/** Of each profile and type of key, over all types of CA. */
const count = inShortOrLong(12, 1000);
/** As many as one command line takes. */
const BATCH = 500;

const oracle = await openOracle();
const openssl = new Openssl();
const authorities = await openAuthorities();
after(async () => {
  openssl[Symbol.dispose]();
  await oracle[Symbol.asyncDispose]();
});

for (const keyType of KEY_TYPES) {
  describe(`${count} leaves with ${keyType} keys pass zlint, Go and OpenSSL`, () => {
    for (const [name, kind] of Object.entries(LEAF_KINDS)) {
      test(name, async (t) => {
        const warnings = new Set<string>();
        for (const [caType, authority] of authorities) {
          const issue = issuerOf(authority, keyType);
          const share = Math.ceil(count / authorities.size);
          const leaves = await Promise.all(
            Array.from({ length: share }, (_, number) => issue(kind, diceOf(number))),
          );
          const others = {
            intermediates: [],
            roots: [authority.facts.certificate.raw],
            now: NOW,
          };
          // Neither crypto/x509 of Go 1.26 nor OpenSSL before 3.5 knows ML-DSA.
          const isKnown = caType !== 'MLDSA65';
          const question = isKnown ? 'l' : 'm';
          const answers = await Promise.all(
            leaves.map((leaf) => oracle.ask(question, chainOf({ leaf, ...others }))),
          );
          const faults = answers.filter(({ level }) => level !== ACCEPTED);
          assert.deepEqual([...new Set(faults.map(({ reason }) => `${caType}: ${reason}`))], []);
          for (const { reason } of answers) if (reason !== '') warnings.add(reason);
          for (let at = 0; isKnown && at < leaves.length; at += BATCH) {
            const accepted = await openssl.acceptedLeaves(leaves.slice(at, at + BATCH), others);
            assert.ok(accepted.every(Boolean), `OpenSSL refuses leaves of a ${caType} CA`);
          }
        }
        if (warnings.size > 0) t.diagnostic(`zlint warns: ${[...warnings].join(', ')}`);
      });
    }
  });
}
