// SPDX-License-Identifier: Apache-2.0
/** The bytes that a component taken over sends to a key holder. */
import { SignerError } from '#base/errors.ts';
import { encodeLeafTbs } from '#ca/issuance/leaf.ts';
import { readHolderConfiguration } from '#ca/key-holder/configuration.ts';
import { judgeLeaf } from '#ca/key-holder/judge.ts';
import { holderFile } from '../../support/ca/held.ts';
import { leafInput, NOW, openAuthority } from '../../support/ca/issuing.ts';
import type { Target } from '../engine.ts';

const authority = await openAuthority();
const { facts: ca } = authority;
const use = readHolderConfiguration(holderFile('/x'), 'x').sockets[0]?.uses[0];

export const heldLeaf: Target = {
  name: 'held-leaf',
  seeds: [
    encodeLeafTbs({ ...leafInput(authority), random: (size) => new Uint8Array(size).fill(7) }),
  ],
  words: ['2.5.29.17', '2.5.29.19', '2.5.29.30', '2.5.29.15', 'spiffe://cluster.local/ns/a/sa/b'],
  maxBytes: 4096,
  isExpected: (error) => error instanceof SignerError,
  run: (input) => {
    if (use?.leaf === undefined) throw new Error('the configuration has no limits of leaves');
    const judged = judgeLeaf({ tbs: input, ca, limits: use.leaf, now: NOW });
    if (judged.refusal !== undefined) return;
    const { isCa, keyUsage, issuer, notBefore, notAfter, sans } = judged.document;
    const signs = keyUsage?.has('keyCertSign') === true || keyUsage?.has('cRLSign') === true;
    const isForeign = Buffer.compare(issuer.raw, ca.subject) !== 0;
    const isLong = notAfter - notBefore > use.leaf.maxDuration * 1000;
    const names = sans.dnsNames.length + sans.ipAddresses.length + sans.emails.length + sans.other;
    if (isCa || signs || isForeign || isLong || names > 0) {
      throw new Error('a key holder would sign a document outside its limits');
    }
  },
};
