// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptChain, type RequestedCertificate } from '#acme/issuing/accepted-chain.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import { named } from '../../support/pki/certificate-der.ts';
import {
  ca,
  keyIds,
  link,
  NOW,
  purposes,
  san,
  usage,
  type LinkParts,
} from '../../support/pki/chain.ts';
import { extension, printable, rdn, seq, tlv, utcTime } from '../../support/pki/der.ts';
import { privateKey, spkiOf } from '../../support/pki/keys.ts';

const root = link('root', { extensions: [ca(), usage(), ...keyIds('root')] });
const issuing = link('issuing', {
  by: root,
  extensions: [ca(0), usage(), ...keyIds('issuing', 'root')],
});
const key = privateKey('P-256', 'leaf');
const DNS = 2;
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const NAMES = [
  [DNS, 'a.example'],
  [DNS, '*.a.example'],
] as const;

const ASKED: RequestedCertificate = {
  spki: spkiOf(key),
  identifiers: [
    { type: 'dns', value: '*.a.example' },
    { type: 'dns', value: 'A.example' },
  ],
  maxSeconds: 366 * 86_400,
};

function leafOf(
  names: readonly (readonly [number, string | Uint8Array])[],
  more: LinkParts & { readonly forWhat?: readonly Uint8Array[] } = {},
): Certificate {
  const { extensions = [], forWhat = [purposes(SERVER_AUTH)], ...rest } = more;
  const all = [san(...names), ...keyIds('leaf', 'issuing'), ...forWhat, ...extensions];
  return link('a.example', { by: issuing, key, extensions: all, ...rest }).certificate;
}

type Certificates = readonly [Certificate, ...Certificate[]];
const chainOf = (leaf: Certificate): Certificates => [leaf, issuing.certificate];

function wrongOf(
  certificates: Certificates,
  asked: Partial<RequestedCertificate> = {},
  now = NOW,
): string {
  const found = acceptChain({ certificates }, { ...ASKED, ...asked }, now);
  return 'wrong' in found ? found.wrong : 'nothing';
}

test('a certificate of the key, names and allowed lifetime is delivered with its chain', () => {
  const found = acceptChain({ certificates: chainOf(leafOf([...NAMES])) }, ASKED, NOW);
  assert.ok('pem' in found, JSON.stringify(found));
  assert.equal(found.pem.match(/BEGIN CERTIFICATE/g)?.length, 2);
});

/** RFC 6962 §3.1: critical, NULL. */
const poison = extension('1.3.6.1.4.1.11129.2.4.3', Uint8Array.of(5, 0), true);
const otherKey = privateKey('P-256', 'other');
/** Microsoft's security identifier: a domain controller takes the user from it. */
const SID = '1.3.6.1.4.1.311.25.2';
const sid = extension(SID, seq());
const commonName = rdn('2.5.4.3', printable('a.example'));
const organization = (name: string): Uint8Array => rdn('2.5.4.10', printable(name));
/** registeredID (RFC 5280 §4.2.1.6), 1.2.3. */
const OTHER = [8, Uint8Array.of(0x2a, 0x03)] as const;

const WRONG: readonly [
  what: string,
  certificates: Certificates,
  asked: Partial<RequestedCertificate>,
  says: RegExp,
][] = [
  ['another key', chainOf(leafOf([...NAMES])), { spki: spkiOf(otherKey) }, /another public key/],
  ['a name more', chainOf(leafOf([...NAMES, [DNS, 'b.example']])), {}, /b\.example/],
  ['a name less', chainOf(leafOf([[DNS, 'a.example']])), {}, /the request has/],
  [
    'an address more',
    chainOf(leafOf([...NAMES, [7, Uint8Array.of(10, 0, 0, 1)]])),
    {},
    /10\.0\.0\.1/,
  ],
  [
    'another common name',
    chainOf(leafOf([...NAMES], { subject: named('x.example') })),
    {},
    /x\.example/,
  ],
  ['a CA', chainOf(leafOf([...NAMES], { extensions: [ca(), usage()] })), {}, /CA certificate/],
  ['a precertificate', chainOf(leafOf([...NAMES], { extensions: [poison] })), {}, /precertificate/],
  ['a name of another kind', chainOf(leafOf([...NAMES, OTHER])), {}, /1 names of other kinds/],
  [
    'a group of Kubernetes',
    chainOf(leafOf([...NAMES], { subject: seq(commonName, organization('system:masters')) })),
    {},
    /"system:masters"/,
  ],
  [
    "a user's UID",
    chainOf(
      leafOf([...NAMES], {
        subject: seq(commonName, rdn('1.3.6.1.4.1.57683.2', printable('u'))),
      }),
    ),
    {},
    /UID/,
  ],
  [
    'an identity in an extension',
    chainOf(leafOf([...NAMES], { extensions: [sid] })),
    {},
    /311\.25/,
  ],
  [
    'another purpose',
    chainOf(leafOf([...NAMES], { forWhat: [purposes(SERVER_AUTH, '1.3.6.1.5.5.7.3.3')] })),
    {},
    /purpose 1\.3\.6\.1\.5\.5\.7\.3\.3/,
  ],
  ['every purpose', chainOf(leafOf([...NAMES], { forWhat: [] })), {}, /permits every purpose/],
  ['a longer life', chainOf(leafOf([...NAMES])), { maxSeconds: 3600 }, /maxDuration allows 1$/],
  ['no issuer', [leafOf([...NAMES])], {}, /without its issuers/],
  ['an issuer that did not sign', [leafOf([...NAMES]), root.certificate], {}, /cannot be verified/],
];

for (const [what, certificates, asked, says] of WRONG) {
  test(`what is not what was asked for is not delivered: ${what}`, () => {
    assert.match(wrongOf(certificates, asked), says);
  });
}

test('a fault is the CA’s only if no request could lead to it', () => {
  const isOfCa = (
    certificates: Certificates,
    asked: Partial<RequestedCertificate> = {},
  ): boolean => {
    const found = acceptChain({ certificates }, { ...ASKED, ...asked }, NOW);
    assert.ok('wrong' in found);
    return found.isOfCa === true;
  };
  const leaf = leafOf([...NAMES]);
  const past = seq(utcTime('260101000000Z'), utcTime('260201000000Z'));
  const old = link('issuing', { by: root, extensions: [ca(0), usage()], validity: past });
  assert.ok(isOfCa(chainOf(leaf), { maxSeconds: 3600 }));
  assert.ok(isOfCa(chainOf(leaf), { spki: spkiOf(otherKey) }));
  assert.ok(isOfCa([leaf]));
  assert.ok(isOfCa([leaf, root.certificate]));
  assert.ok(isOfCa([leaf, old.certificate]));
  // RFC 5280 §4.2.1.10: a requester chooses the names.
  const dns = (name: string): Uint8Array => tlv(0x82, Buffer.from(name));
  const only = extension('2.5.29.30', seq(tlv(0xa0, seq(dns('b.example')))), true);
  const narrow = link('issuing', { by: root, extensions: [ca(0), usage(), only] });
  const outside = leafOf([...NAMES], { by: narrow });
  assert.match(wrongOf([outside, narrow.certificate]), /cannot be verified/);
  assert.ok(!isOfCa([outside, narrow.certificate]));
  assert.ok(!isOfCa(chainOf(leafOf([...NAMES, [DNS, 'b.example']])), { maxSeconds: 3600 }));
  assert.ok(!isOfCa(chainOf(leafOf([...NAMES], { extensions: [sid] }))));
});

test('a leaf alone is delivered alone where a CA that the signer names signed it', () => {
  const leaf = leafOf([...NAMES], { by: root });
  const pem = (of: Certificate): string => encodePem('CERTIFICATE', of.raw);
  const asked = { ...ASKED, omittedIssuers: pem(issuing.certificate) + pem(root.certificate) };
  assert.deepEqual(acceptChain({ certificates: [leaf] }, asked, NOW), { pem: pem(leaf) });
  const other = link('other', { extensions: [ca(), usage(), ...keyIds('other')] });
  const says = wrongOf([leaf], { omittedIssuers: pem(other.certificate) });
  assert.match(says, /cannot be verified/);
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  assert.match(wrongOf([leaf], { omittedIssuers: broken }), /omittedIssuers cannot be read/);
  // Issuers that the CA sends are judged without those that it leaves out.
  const signedByOther = [leafOf([...NAMES]), other.certificate] as const;
  assert.match(wrongOf(signedByOther, asked), /cannot be verified/);
});

test('allowed extensions, other ACME servers’ and an organization are delivered', () => {
  const provisioner = extension('1.3.6.1.4.1.37476.9000.64.1', seq());
  const subject = seq(commonName, organization('Example Inc'));
  const chain = chainOf(leafOf([...NAMES], { extensions: [provisioner, sid], subject }));
  assert.equal(wrongOf(chain, { allowedExtensions: [SID] }), 'nothing');
});

test('what has expired is not delivered', () => {
  const validity = seq(utcTime('260101000000Z'), utcTime('260201000000Z'));
  assert.match(wrongOf(chainOf(leafOf([...NAMES], { validity }))), /expired/);
});

test('a CA whose clock is ahead by ten minutes or less has issued all the same', () => {
  const chain = chainOf(leafOf([...NAMES]));
  const { notBefore } = chain[0];
  assert.equal(wrongOf(chain, {}, notBefore - 10 * 60_000), 'nothing');
  assert.match(wrongOf(chain, {}, notBefore - 10 * 60_000 - 1000), /not valid yet/);
});
