// SPDX-License-Identifier: Apache-2.0
/** Chains that an upstream CA, a mistake or an attacker may hand in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal, judgeChain, type JudgeInput } from '#ca/upstream/judge-chain.ts';
import type { WantedCa } from '#ca/upstream/wanted-ca.ts';
import { encodePem } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { NOW, ca, keyIds, link, purposes, usage, type Link } from '../../support/pki/chain.ts';
import { explicit, extension, implicit, seq, utcTime } from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';

const parts = (name: string, pathLen?: number, more: readonly Uint8Array[] = []) => ({
  extensions: [ca(pathLen), usage(), ...keyIds(name), ...more],
});

const ROOT = link('root', parts('root'));
const ISSUER = link('issuer', { ...parts('issuer'), by: ROOT });
const CA = link('ca', { ...parts('ca', 0), by: ISSUER });

const WANTED: WantedCa = {
  trust: {
    rootFingerprint: fingerprint(ROOT.certificate.raw),
    anchor: 'Root',
    trustEverythingBelow: true,
  },
  crossSigned: false,
  signsCrls: false,
  minSeconds: 2 * 86_400,
  names: { uris: ['spiffe://cluster.local/x'], dnsNames: [], ipAddresses: [], emails: [] },
  purposes: ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'],
  isDistrusted: () => false,
};

const pem = (...links: readonly Link[]): string =>
  links.map(({ certificate }) => encodePem('CERTIFICATE', certificate.raw)).join('');

function judged(
  links: readonly Link[],
  more: Partial<WantedCa> = {},
  input: Partial<JudgeInput> = {},
) {
  const { publicKey, subject } = CA.certificate;
  return judgeChain({
    chain: pem(...links),
    request: { publicKey, subject },
    wanted: { ...WANTED, ...more },
    now: NOW,
    ...input,
  });
}

function reasonOf(...of: Parameters<typeof judged>): string {
  const found = judged(...of);
  return isRefusal(found) ? found.reason : 'accepted';
}

const root = (of: Link, more: Partial<WantedCa['trust']> = {}): Partial<WantedCa> => ({
  trust: { ...WANTED.trust, rootFingerprint: fingerprint(of.certificate.raw), ...more },
});

test('a chain up to the known root is accepted, with the anchor that the owner chose', () => {
  const anchors = (['Root', 'Issuer', 'Authority'] as const).map((anchor) => {
    const found = judged([CA, ISSUER, ROOT], { trust: { ...WANTED.trust, anchor } });
    return isRefusal(found) ? found.reason : fingerprint(found.anchor.raw);
  });
  assert.deepEqual(
    anchors,
    [ROOT, ISSUER, CA].map(({ certificate }) => fingerprint(certificate.raw)),
  );
});

const otherKey = link('ca', {
  ...parts('ca', 0),
  by: ISSUER,
  key: privateKey('P-256', 'another'),
});
const otherName = link('other', { ...parts('other', 0), by: ISSUER, key: CA.key });
const forged = link('ca', {
  ...parts('ca', 0),
  by: { name: 'issuer', key: privateKey('P-256', 'thief') },
});
const leaf = link('ca', { extensions: [usage([0x80], 7), ...keyIds('ca')], by: ISSUER });
const noSign = link('ca', { extensions: [ca(0), usage([0x80], 7), ...keyIds('ca')], by: ISSUER });
const noCrls = link('ca', { extensions: [ca(0), usage([0x04], 2), ...keyIds('ca')], by: ISSUER });
const noKeyId = link('ca', { extensions: [ca(0), usage()], by: ISSUER });
const tight = link('root', parts('root', 0));
const tightIssuer = link('issuer', { ...parts('issuer'), by: tight });
const tightCa = link('ca', { ...parts('ca', 0), by: tightIssuer });
const loopA = link('issuer', {
  ...parts('issuer'),
  by: { name: 'loop', key: privateKey('P-256', 'loop') },
});
const loopB = link('loop', { ...parts('loop'), by: ISSUER });
const ofLoop = link('ca', { ...parts('ca', 0), by: loopA });
const clientOnly = link('issuer', {
  ...parts('issuer', undefined, [purposes('1.3.6.1.5.5.7.3.2')]),
  by: ROOT,
});
const belowClientOnly = link('ca', { ...parts('ca', 0), by: clientOnly });
const permittedUri = (host: string): Uint8Array =>
  extension('2.5.29.30', seq(explicit(0, seq(implicit(6, Buffer.from(host))))), true);
const foreign = link('issuer', {
  ...parts('issuer', undefined, [permittedUri('other.example')]),
  by: ROOT,
});
const belowForeign = link('ca', { ...parts('ca', 0), by: foreign });
const unknownCritical = link('issuer', {
  ...parts('issuer', undefined, [extension('1.2.3.4', seq(), true)]),
  by: ROOT,
});
const belowUnknown = link('ca', { ...parts('ca', 0), by: unknownCritical });

const hostile: [law: string, reason: string, ...Parameters<typeof judged>][] = [
  ['no certificate', 'ChainMalformed', []],
  ['text that is not PEM', 'ChainMalformed', [], {}, { chain: 'not a chain' }],
  ['an oversized text', 'ChainMalformed', [], {}, { chain: pem(CA).repeat(200) }],
  ['too many certificates', 'ChainMalformed', [], {}, { chain: pem(CA).repeat(9) }],
  ['a certificate twice', 'ChainMalformed', [CA, ISSUER, ISSUER, ROOT]],
  ['a self-signed certificate in the middle', 'ChainMalformed', [CA, ROOT, ISSUER, tight]],
  ['a chain without its root', 'RootMissing', [CA, ISSUER]],
  ['the certificate alone', 'RootMissing', [CA]],
  ['a loop', 'RootMissing', [ofLoop, loopA, loopB]],
  ['a certificate for another key', 'KeyMismatch', [otherKey, ISSUER, ROOT]],
  ['a reversed chain', 'RootMissing', [ROOT, ISSUER, CA]],
  ['another common name', 'SubjectMismatch', [otherName, ISSUER, ROOT]],
  ['a leaf', 'NotACa', [leaf, ISSUER, ROOT]],
  ['a CA that may not sign certificates', 'NotACa', [noSign, ISSUER, ROOT]],
  [
    'a CA that may not sign CRLs, with profile.crl',
    'NotACa',
    [noCrls, ISSUER, ROOT],
    { signsCrls: true },
  ],
  ['a CA without a key identifier', 'NotACa', [noKeyId, ISSUER, ROOT]],
  ['an unknown root', 'RootMismatch', [tightCa, tightIssuer, tight]],
  ['a signature by another key', 'PathInvalid', [forged, ISSUER, ROOT]],
  ['an issuer of another name', 'PathInvalid', [CA, loopB, ISSUER, ROOT]],
  [
    'a root whose path length is exceeded',
    'PathLengthExceeded',
    [tightCa, tightIssuer, tight],
    root(tight),
  ],
  [
    'path length 0 for a CA that cross-signs',
    'PathLengthExceeded',
    [CA, ISSUER, ROOT],
    { crossSigned: true },
  ],
  [
    'an issuer that excludes a purpose',
    'ConstraintsExcludeProfile',
    [belowClientOnly, clientOnly, ROOT],
  ],
  ['an issuer that excludes the names', 'ConstraintsExcludeProfile', [belowForeign, foreign, ROOT]],
  [
    'an unknown critical extension',
    'ConstraintsExcludeProfile',
    [belowUnknown, unknownCritical, ROOT],
  ],
  [
    'an expired chain',
    'CertificateExpired',
    [CA, ISSUER, ROOT],
    {},
    { now: CA.certificate.notAfter },
  ],
  [
    'a chain of tomorrow',
    'CertificateNotYetValid',
    [CA, ISSUER, ROOT],
    {},
    { now: CA.certificate.notBefore - 1000 },
  ],
  [
    'a life shorter than two leaves',
    'LifetimeTooShort',
    [CA, ISSUER, ROOT],
    {},
    { now: CA.certificate.notAfter - 86_400_000 },
  ],
  [
    'a distrusted anchor',
    'AnchorDistrusted',
    [CA, ISSUER, ROOT],
    { isDistrusted: (each) => each === WANTED.trust.rootFingerprint },
  ],
  [
    'a root as anchor without consent',
    'ConsentMissing',
    [CA, ISSUER, ROOT],
    root(ROOT, { trustEverythingBelow: false }),
  ],
  [
    'an issuer as anchor without consent',
    'ConsentMissing',
    [CA, ISSUER, ROOT],
    root(ROOT, { trustEverythingBelow: false, anchor: 'Issuer' }),
  ],
];

for (const [law, reason, ...of] of hostile) {
  test(`refuses ${law}`, () => {
    const found = judged(...of);
    assert.equal(isRefusal(found) ? found.reason : 'accepted', reason, JSON.stringify(found));
  });
}

test('accepts the certificate itself as anchor without consent', () => {
  const trust = { ...WANTED.trust, anchor: 'Authority', trustEverythingBelow: false } as const;
  assert.equal(reasonOf([CA, ISSUER, ROOT], { trust }), 'accepted');
});

test('refuses a CA that outlives its root', () => {
  const short = link('root', {
    ...parts('root'),
    validity: seq(utcTime('260101000000Z'), utcTime('261001000000Z')),
  });
  const long = link('ca', { ...parts('ca', 0), by: short });
  if (short.certificate.notAfter >= long.certificate.notAfter) assert.fail('the stage is wrong');
  assert.equal(reasonOf([long, short], root(short)), 'OutlivesIssuer');
});
