// SPDX-License-Identifier: Apache-2.0
/**
 * A foreign CA whose issuer has expired may cut a leaf to the issuer's end, or let it outlive the
 * issuer (Vault's leaf_not_after_behavior). No such leaf is delivered, whatever its own times are.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyReturnedChain } from '#ca/issuance/verify-returned-chain.ts';
import { encodePem } from '#pki/der/pem.ts';
import { made } from '../policy/request.ts';
import { NOW, ca, keyIds, link, purposes, san, usage, type Link } from '../../support/pki/chain.ts';
import { seq, utcTime } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';

const KEY = privateKey('P-256', 'leaf');
const { request } = made({ subject: [], dnsNames: ['a.example'], key: KEY });
const [SECOND, HOUR] = [1_000, 3_600_000];
/** id-kp-serverAuth (RFC 5280 §4.2.1.12). */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

/** Times relative to now, in milliseconds. */
type Times = readonly [notBefore: number, notAfter: number];

function validity([from, to]: Times): Uint8Array {
  const text = (offset: number): string =>
    new Date(NOW + offset).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '') + 'Z';
  return seq(utcTime(text(from)), utcTime(text(to)));
}

interface TimesOfChain {
  readonly root?: Times;
  readonly issuer?: Times;
  readonly leaf: Times;
}

const LONG: Times = [-1_000 * HOUR, 1_000 * HOUR];

function verify({ root: ofRoot = LONG, issuer: ofIssuer = LONG, leaf: ofLeaf }: TimesOfChain): {
  readonly chain: readonly unknown[];
} {
  const root = link('root', {
    validity: validity(ofRoot),
    extensions: [ca(), usage(), ...keyIds('root')],
  });
  const issuer = link('issuing', {
    by: root,
    validity: validity(ofIssuer),
    extensions: [ca(0), usage(), ...keyIds('issuing', 'root')],
  });
  const leaf = link('a.example', {
    by: issuer,
    key: KEY,
    validity: validity(ofLeaf),
    subject: seq(),
    extensions: [
      usage([0x80], 7),
      san([2, 'a.example']),
      purposes(SERVER_AUTH),
      ...keyIds('leaf', 'issuing'),
    ],
  });
  const pem = ({ certificate }: Link): string => encodePem('CERTIFICATE', certificate.raw);
  return verifyReturnedChain({
    chain: pem(leaf) + pem(issuer),
    subject: {
      commonName: '',
      organizations: [],
      organizationalUnits: [],
      dnsNames: ['a.example'],
      ipAddresses: [],
      uris: [],
      emails: [],
    },
    publicKey: request.publicKey,
    usages: ['digital signature', 'server auth'],
    validity: { notBefore: NOW, notAfter: NOW + 200 * HOUR },
    minimumSeconds: 1,
    anchors: [root.certificate],
    now: NOW,
  });
}

test('a leaf that is backdated by half a minute, as Vault’s are, is delivered', () => {
  assert.equal(verify({ leaf: [-30 * SECOND, HOUR] }).chain.length, 2);
});

const REFUSED: Readonly<Record<string, TimesOfChain>> = {
  'a leaf cut to the end of an issuer that expired a day ago': {
    issuer: [-100 * HOUR, -24 * HOUR],
    leaf: [-30 * SECOND, -24 * HOUR],
  },
  'a leaf cut to the end of an issuer that expired a moment ago': {
    issuer: [-100 * HOUR, -10 * SECOND],
    leaf: [-30 * SECOND, -10 * SECOND],
  },
  'a leaf that outlives its expired issuer': {
    issuer: [-100 * HOUR, -10 * SECOND],
    leaf: [-30 * SECOND, HOUR],
  },
  'a leaf below an expired root': {
    root: [-100 * HOUR, -10 * SECOND],
    leaf: [-30 * SECOND, HOUR],
  },
  'a leaf that is valid in ten minutes only': { leaf: [600 * SECOND, HOUR] },
  'a leaf of years ago': { leaf: [-20_000 * HOUR, HOUR] },
};

for (const [what, times] of Object.entries(REFUSED)) {
  test(`${what} is not delivered`, () => {
    assert.throws(() => verify(times), { disposition: 'authority' });
  });
}
