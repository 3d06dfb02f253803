// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createSecureContext } from 'node:tls';
import type { Authority, AuthorityMaterial } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import {
  NOW,
  ca,
  keyIds,
  link,
  usage,
  type Link,
  type LinkParts,
} from '../../support/pki/chain.ts';
import { leafInput } from '../../support/ca/issuing.ts';
import { encodePem } from '#pki/der/pem.ts';
import { oid, seq, utcTime } from '../../support/pki/der.ts';
import { AMBIGUOUS_CAS } from '../../support/pki/forms.ts';
import { privateKey, type TestKey } from '../../support/pki/keys.ts';
import { RSA_SHA256 } from '../../support/pki/request-der.ts';
import { refuses } from '../../support/pki/refuses.ts';

const root = link('root', { extensions: [ca(), usage(), ...keyIds('root')] });
const issuing = link('issuing', {
  extensions: [ca(0), usage(), ...keyIds('issuing', 'root')],
  by: root,
});

const pem = (...links: readonly Link[]): string =>
  links.map(({ certificate }) => new X509Certificate(certificate.raw).toString()).join('');

type Form = 'pkcs8' | 'sec1' | 'pkcs1';
const keyPem = ({ key }: Pick<Link, 'key'>, type: Form = 'pkcs8'): string =>
  key.export({ type, format: 'pem' }).toString();

/** The Secret of a CA that is its own root, with parts replaced. */
const secret = (more: Partial<AuthorityMaterial> = {}): AuthorityMaterial => ({
  certificate: pem(root),
  key: keyPem(root),
  anchors: undefined,
  ...more,
});

const open = (more: Partial<AuthorityMaterial> = {}, now = NOW): Authority =>
  openLocalAuthority(secret(more), now);

/** A self-signed certificate in place of the root. */
const instead = (parts: LinkParts): Partial<AuthorityMaterial> => {
  const made = link('instead', parts);
  return { certificate: pem(made), key: keyPem(made) };
};

const printsOf = (certificates: readonly { readonly raw: Uint8Array }[]): readonly string[] =>
  certificates.map(({ raw }) => new X509Certificate(raw).fingerprint256);
const prints = (...links: readonly Link[]): readonly string[] =>
  printsOf(links.map(({ certificate }) => certificate));

/** A leaf of it by node:crypto's judgement. */
async function issues(authority: Authority, issuer: Link): Promise<void> {
  const validity = { notBefore: NOW, notAfter: NOW + 3_600_000 };
  const prepared = prepare(leafInput(authority, { validity }));
  const leaf = new X509Certificate(await authority.sign(prepared, new AbortController().signal));
  assert.ok(leaf.checkIssued(new X509Certificate(issuer.certificate.raw)));
  assert.ok(leaf.verify(new X509Certificate(issuer.certificate.raw).publicKey));
}

test('a self-signed CA opens, is its own anchor, and adds nothing to the chain', async () => {
  const authority = open();
  assert.deepEqual(authority.facts.intermediates, []);
  assert.deepEqual(printsOf(authority.facts.anchors), prints(root));
  await issues(authority, root);
});

test('an intermediate is part of the chain; its root is the anchor and is not sent', async () => {
  const authority = open({ certificate: pem(issuing, root), key: keyPem(issuing) });
  assert.deepEqual(printsOf(authority.facts.intermediates), prints(issuing));
  assert.deepEqual(printsOf(authority.facts.anchors), prints(root));
  await issues(authority, issuing);
});

test('the root in ca.crt is the anchor, whether or not tls.crt has one', () => {
  for (const certificate of [pem(issuing), pem(issuing, root)]) {
    const { facts } = open({ certificate, key: keyPem(issuing), anchors: pem(root) });
    assert.deepEqual(printsOf(facts.intermediates), prints(issuing));
    assert.deepEqual(printsOf(facts.anchors), prints(root));
  }
});

test('an empty ca.crt counts as absent', () => {
  assert.deepEqual(printsOf(open({ anchors: ' \n' }).facts.anchors), prints(root));
});

test('one odd anchor in ca.crt is left out and named, and the CA opens', () => {
  const odd = new Map(Object.entries(AMBIGUOUS_CAS)).get('a path length without cA');
  const leaf = link('leaf', { by: root });
  const anchors = [pem(leaf), encodePem('CERTIFICATE', odd ?? new Uint8Array()), pem(root)].join(
    '',
  );
  const { facts } = open({ certificate: pem(issuing), key: keyPem(issuing), anchors });
  assert.deepEqual(printsOf(facts.anchors), prints(root));
  const [first = '', second = '', ...more] = facts.omittedAnchors ?? [];
  assert.deepEqual(more, []);
  assert.match(first, /^certificate 1 \("CN=leaf", sha256:[0-9a-f]{64}\) .*lacks CA:TRUE/);
  assert.match(second, /^certificate 2 \("CN=root", .*path length.*without cA.*openssl x509/);
});

test('a CA without an odd anchor omits none', () => {
  assert.equal(open({ anchors: pem(root) }).facts.omittedAnchors, undefined);
});

test('a CA whose only anchor is odd does not open, and its error names the anchor', () => {
  const leaf = link('leaf', { by: root });
  refuses(
    () => open({ certificate: pem(issuing), key: keyPem(issuing), anchors: pem(leaf) }),
    'AUTHORITY_INVALID',
    /ca\.crt holds no usable trust anchor: certificate 1 \("CN=leaf"/,
    'authority',
  );
  const other = link('other', { extensions: [ca(), usage(), ...keyIds('other')] });
  refuses(
    () => open({ certificate: pem(issuing), key: keyPem(issuing), anchors: pem(leaf, other) }),
    'AUTHORITY_INVALID',
    /^tls\.crt: .*; in ca\.crt certificate 1 \("CN=leaf"/,
    'authority',
  );
});

test('of many odd anchors three are named, and the others counted', () => {
  const leaves = [1, 2, 3, 4, 5].map((number) => link(`leaf-${number}`, { by: root }));
  const { facts } = open({ anchors: pem(...leaves, root) });
  assert.equal(facts.omittedAnchors?.length, 4);
  assert.match(facts.omittedAnchors.at(-1) ?? '', /^2 more certificates/);
});

test('an opened CA reports the values of its certificate', () => {
  const { facts } = open();
  const { raw, subject, subjectKeyIdentifier } = root.certificate;
  const print = new X509Certificate(raw).fingerprint256.replaceAll(':', '').toLowerCase();
  assert.equal(facts.fingerprint, `sha256:${print}`);
  assert.ok(Buffer.compare(facts.subject, subject.raw) === 0);
  assert.ok(Buffer.compare(facts.keyIdentifier, subjectKeyIdentifier ?? new Uint8Array()) === 0);
  assert.equal(facts.notBefore, Date.UTC(2026, 0, 1));
  assert.equal(facts.notAfter, Date.UTC(2027, 0, 1));
  assert.ok(Object.isFrozen(facts));
});

const FORMS: readonly (readonly [TestKey, Form])[] = [
  ['P-256', 'pkcs8'],
  ['P-256', 'sec1'],
  ['RSA-2048', 'pkcs8'],
  ['RSA-2048', 'pkcs1'],
];

for (const [kind, form] of FORMS) {
  test(`a ${kind} key is read as ${form}`, async () => {
    const key = privateKey(kind, 'forms');
    const algorithm = kind === 'P-256' ? {} : { algorithm: RSA_SHA256 };
    const own = link('forms', { key, extensions: [ca(), usage(), ...keyIds('x')], ...algorithm });
    await issues(open({ certificate: pem(own), key: keyPem(own, form) }), own);
  });
}

test('a key is read after its EC parameters, as OpenSSL writes it', () => {
  const parameters =
    '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  assert.ok(open({ key: parameters + keyPem(root, 'sec1') }));
});

const encrypted = root.key
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const legacy = root.key
  .export({ type: 'sec1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const stranger = link('stranger', { extensions: [ca(), usage(), ...keyIds('stranger')] });
const namesake = link('root', {
  extensions: [ca(), usage(), ...keyIds('root')],
  key: privateKey('P-256', 'namesake'),
});
const noCa = link('no-ca', { extensions: [usage([0x80], 7), ...keyIds('no-ca')] });
const belowNoCa = link('below', { extensions: [ca(0), usage(), ...keyIds('b')], by: noCa });
const ski = keyIds('x');

type Refusal = [law: string, more: Partial<AuthorityMaterial>, code: string, message: RegExp];
const refusals: Refusal[] = [
  [
    'a certificate without CA:TRUE',
    instead({ extensions: [usage(), ...ski] }),
    'AUTHORITY_INVALID',
    /not a CA \(basicConstraints lacks CA:TRUE\)/,
  ],
  [
    'a CA that may not sign certificates',
    instead({ extensions: [ca(), usage([0x02]), ...ski] }),
    'AUTHORITY_INVALID',
    /keyUsage lacks keyCertSign/,
  ],
  [
    'a CA without a subject key identifier',
    instead({ extensions: [ca(), usage()] }),
    'AUTHORITY_INVALID',
    /no subjectKeyIdentifier/,
  ],
  [
    'a CA key that can be broken',
    instead({
      key: privateKey('RSA-1024'),
      algorithm: RSA_SHA256,
      extensions: [ca(), usage(), ...ski],
    }),
    'AUTHORITY_INVALID',
    /^tls\.crt: the RSA key has 1024 bits/,
  ],
  ['no certificate', { certificate: '' }, 'AUTHORITY_INVALID', /^tls\.crt/],
  ['no PEM', { certificate: 'root' }, 'AUTHORITY_INVALID', /^tls\.crt/],
  [
    'more certificates than a chain has',
    { certificate: pem(root).repeat(11) },
    'AUTHORITY_INVALID',
    /more than 10 certificates/,
  ],
  ['an empty key', { key: '' }, 'AUTHORITY_INVALID', /tls\.key is empty/],
  ['no key at all', { key: 'secret' }, 'AUTHORITY_INVALID', /^tls\.key: /],
  ['an encrypted key', { key: encrypted }, 'KEY_ENCRYPTED', /^tls\.key: .*is encrypted/],
  ['a key encrypted the old way', { key: legacy }, 'KEY_ENCRYPTED', /is encrypted; store it/],
  [
    'the key of another certificate',
    { key: keyPem(stranger) },
    'AUTHORITY_INVALID',
    /not the private key of the first certificate/,
  ],
  [
    'an intermediate without its root',
    { certificate: pem(issuing), key: keyPem(issuing) },
    'ANCHOR_MISSING',
    /no ca\.crt with the root/,
  ],
  [
    'a root that did not sign it',
    { certificate: pem(issuing), key: keyPem(issuing), anchors: pem(stranger) },
    'AUTHORITY_INVALID',
    /no anchor or intermediate issued "CN=issuing"/,
  ],
  [
    'a root of the right name that did not sign it',
    { certificate: pem(issuing), key: keyPem(issuing), anchors: pem(namesake) },
    'AUTHORITY_INVALID',
    /the signature of "CN=issuing" is not by "CN=root"/,
  ],
  [
    'a root that is no CA',
    { certificate: pem(belowNoCa, noCa), key: keyPem(belowNoCa) },
    'AUTHORITY_INVALID',
    /"CN=no-ca" is not a CA/,
  ],
  ['anchors that are no CA', { anchors: pem(noCa) }, 'AUTHORITY_INVALID', /^ca\.crt holds no/],
  ['an anchor that is no PEM', { anchors: 'x' }, 'AUTHORITY_INVALID', /^(?:ca|tls)\.crt: /],
];

for (const [law, more, code, message] of refusals) {
  test(`refused: ${law}`, () => {
    refuses(() => open(more), code as 'AUTHORITY_INVALID', message, 'authority');
  });
}

test('a CA signs from the first to the last second of its validity, and not outside', () => {
  const { notBefore, notAfter } = root.certificate;
  for (const now of [notBefore, notAfter - 1]) assert.ok(open({}, now));
  const outside: [now: number, message: RegExp][] = [
    [notBefore - 1, /is not valid before 2026-01-01T00:00:00\.000Z/],
    [notAfter, /expired at 2027-01-01T00:00:00\.000Z; renew it/],
  ];
  for (const [now, message] of outside) {
    refuses(() => open({}, now), 'AUTHORITY_EXPIRED', message, 'authority');
  }
});

test('no error quotes a line of the key', () => {
  const damaged = keyPem(root).replace(/\n(.{40})/, '\nAAAA$1');
  for (const key of [keyPem(stranger), encrypted, damaged]) {
    const lines = key.split('\n').filter((line) => line.length > 20 && !line.startsWith('-'));
    assert.throws(
      () => open({ key }),
      (error: Error) => {
        const said = [error.message, String(error.cause), error.stack ?? ''].join('\n');
        assert.ok(lines.length > 0 && lines.every((line) => !said.includes(line)), error.message);
        return true;
      },
    );
  }
});

test('an intermediate as anchor is refused where tls.crt has its root', () => {
  const partial = { certificate: pem(issuing, root), key: keyPem(issuing), anchors: pem(issuing) };
  refuses(
    () => open(partial),
    'ANCHOR_MISSING',
    /ca\.crt has "CN=issuing", which is not a root, and lacks the root "CN=root" .* OpenSSL, Node and Python/,
    'authority',
  );
  // The spec of a managed CA chooses its anchor.
  assert.deepEqual(
    printsOf(open({ ...partial, anchorChosen: true }).facts.anchors),
    prints(issuing),
  );
  // Without the root there is nothing to publish instead.
  const { facts } = open({ ...partial, certificate: pem(issuing) });
  assert.deepEqual(printsOf(facts.intermediates), prints(issuing));
  // With the root beside it, every verifier finds a path.
  assert.equal(open({ ...partial, anchors: pem(issuing, root) }).facts.anchors.length, 2);
});

test('a root that signed itself by an algorithm that is not verified is a root', () => {
  const algorithm = seq(oid('1.2.840.10045.4.1')); // ecdsa-with-SHA1 (RFC 3279 §2.2.3)
  const isCa = [ca(), usage()];
  for (const ids of [[], keyIds('old root'), keyIds('old root', 'old root')]) {
    const top = link('old root', { algorithm, extensions: [...isCa, ...ids] });
    const below = link('below', { by: top, extensions: [...isCa, ...keyIds('below')] });
    const { facts } = open({ certificate: pem(below, top), key: keyPem(below) });
    assert.deepEqual(printsOf(facts.anchors), prints(top));
    assert.deepEqual(printsOf(facts.intermediates), prints(below));
  }
  const bridge = link('old root', {
    algorithm,
    extensions: [...isCa, ...keyIds('old root', 'older root')],
  });
  const below = link('below', { by: bridge, extensions: [...isCa, ...keyIds('below')] });
  refuses(
    () => open({ certificate: pem(below, bridge), key: keyPem(below) }),
    'ANCHOR_MISSING',
    /has no self-signed certificate/,
    'authority',
  );
});

test('a certificate with its own name and another key is no root', () => {
  const older = link('issuing', { key: privateKey('P-256', 'older') });
  const bridge = link('issuing', {
    key: issuing.key,
    by: { name: 'issuing', key: older.key },
    extensions: [ca(), usage(), ...keyIds('issuing')],
  });
  refuses(
    () => open({ certificate: pem(bridge), key: keyPem(issuing) }),
    'ANCHOR_MISSING',
    /has no self-signed certificate/,
    'authority',
  );
});

/** The issuing CA as an earlier certificate of the same key, which has expired. */
const expired = link('issuing', {
  extensions: [ca(0), usage(), ...keyIds('issuing', 'root')],
  validity: seq(utcTime('260101000000Z'), utcTime('260531000000Z')),
  by: root,
});

test('the first valid certificate of the CA signs, and others are named', async () => {
  const { facts, ...authority } = open({
    certificate: pem(expired, issuing),
    key: keyPem(issuing),
    anchors: pem(root),
  });
  assert.deepEqual(printsOf([facts.certificate]), prints(issuing));
  assert.deepEqual(printsOf(facts.intermediates), prints(issuing));
  const [omitted = '', ...more] = facts.omittedCertificates ?? [];
  assert.deepEqual(more, []);
  assert.match(omitted, /^certificate 1 \("CN=issuing", sha256:[0-9a-f]{64}\) has expired$/);
  await issues({ facts, ...authority }, issuing);
});

test('a CA whose every certificate has expired does not open', () => {
  refuses(
    () => open({ certificate: pem(expired), key: keyPem(issuing), anchors: pem(root) }),
    'AUTHORITY_EXPIRED',
    /expired at 2026-05-31/,
    'authority',
  );
});

test('a certificate that belongs to no chain of the CA is named and not delivered', () => {
  const { facts } = open({
    certificate: pem(
      issuing,
      stranger,
      link('unrelated', { by: stranger, extensions: [ca()] }),
      root,
    ),
    key: keyPem(issuing),
  });
  assert.deepEqual(printsOf(facts.intermediates), prints(issuing));
  const [omitted = '', ...more] = facts.omittedCertificates ?? [];
  assert.deepEqual(more, [], 'roots are never delivered, so they are not named');
  assert.match(
    omitted,
    /^certificate 3 \("CN=unrelated", .* does not lead from the CA to an anchor$/,
  );
});

test('the certificates above the CA may have any order in tls.crt', () => {
  const middle = link('middle', {
    extensions: [ca(), usage(), ...keyIds('middle', 'root')],
    by: root,
  });
  const low = link('low', { extensions: [ca(0), usage(), ...keyIds('low', 'middle')], by: middle });
  const { facts } = open({ certificate: pem(low, root, middle), key: keyPem(low) });
  assert.deepEqual(printsOf(facts.anchors), prints(root));
  assert.deepEqual(printsOf(facts.intermediates), prints(low, middle));
  assert.equal(facts.omittedCertificates, undefined);
});

test('a tls.crt that begins with another key’s certificate is refused, as in OpenSSL', () => {
  const certificate = pem(root, issuing);
  const key = keyPem(issuing);
  assert.throws(() => createSecureContext({ cert: certificate, key }), /key values mismatch/i);
  refuses(
    () => open({ certificate, key }),
    'AUTHORITY_INVALID',
    /not the private key of the first certificate of tls\.crt, but of certificate 2; write that first/,
    'authority',
  );
});
