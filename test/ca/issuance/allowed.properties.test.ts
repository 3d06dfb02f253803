// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createPublicKey, type X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { decide as decidePod } from '#requests/pcr-issuer/decide.ts';
import { decide as decideCsr } from '#requests/signer/decide.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { CN, O, OU, made } from '../policy/request.ts';
import { NOW, openAuthority, random } from '../../support/ca/issuing.ts';
import { privateKey, type TestKey } from '../../support/pki/keys.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { ECDSA_SHA256, ED25519, RSA_SHA256, requestDer } from '../../support/pki/request-der.ts';
import { workloadProfile } from '../../support/signers/workload-profile.ts';
import { SEED, issuedLeaf } from './issued-leaf.ts';

const authority = await openAuthority();

/** What a usage becomes, by RFC 5280 §4.2.1.3 and §4.2.1.12. */
const MEANING = {
  'digital signature': 'digitalSignature',
  'key encipherment': 'keyEncipherment',
  'key agreement': 'keyAgreement',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'code signing': '1.3.6.1.5.5.7.3.3',
} as const;

type Usage = keyof typeof MEANING;
const USAGES = Object.keys(MEANING) as readonly Usage[];

const KEY_TYPES = {
  'P-256': 'ECDSAP256',
  'P-384': 'ECDSAP384',
  'RSA-3072': 'RSA3072',
  Ed25519: 'ED25519',
} as const satisfies Partial<Record<TestKey, string>>;

type Kind = keyof typeof KEY_TYPES;
const KINDS = Object.keys(KEY_TYPES) as readonly Kind[];

const usages = fc.subarray([...USAGES], { minLength: 1 });
const kind = fc.constantFrom(...KINDS);
const kinds = fc.oneof(fc.constant([...KINDS]), fc.subarray([...KINDS], { minLength: 1 }));
const keyTypesOf = (of: readonly Kind[]): readonly string[] => of.map((each) => KEY_TYPES[each]);

/** Purposes and bits of a leaf, all of them. */
function meaningOf(leaf: X509Certificate): readonly string[] {
  const { keyUsage, extKeyUsage } = decodeCertificate(leaf.raw);
  return [...(keyUsage ?? []), ...(extKeyUsage ?? [])];
}

/** No CA, the requester's key, and no purpose that was not both allowed and asked for. */
function holds(leaf: X509Certificate, key: Kind, allowed: readonly Usage[]): void {
  assert.equal(leaf.ca, false);
  assert.ok(leaf.publicKey.equals(createPublicKey(privateKey(key))));
  const most: readonly string[] = allowed.map((usage) => MEANING[usage]);
  const beyond = meaningOf(leaf).filter((each) => !most.includes(each));
  assert.deepEqual(beyond, []);
}

/** By node:crypto: `O=dev`, `DNS:a.example.com` … */
function namesOf(leaf: X509Certificate): readonly string[] {
  const { subject = '', subjectAltName = '' } = leaf as Partial<X509Certificate>;
  return [...subject.split('\n'), ...subjectAltName.split(', ')].filter((name) => name !== '');
}

const asked = fc.record({
  commonName: fc.subarray(['jane', 'joe'], { maxLength: 1 }),
  organizations: fc.subarray(['dev', 'ops', 'qa']),
  organizationalUnits: fc.subarray(['x', 'y']),
  dnsNames: fc.subarray(['a.example.com', 'b.example.com', '*.example.com']),
  uris: fc.subarray(['spiffe://td/a', 'https://example.com/']),
  emails: fc.subarray(['j@example.com', 'k@example.com']),
});
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

const PREFIXES: Readonly<Record<keyof Asked, string>> = {
  commonName: 'CN=',
  organizations: 'O=',
  organizationalUnits: 'OU=',
  dnsNames: 'DNS:',
  uris: 'URI:',
  emails: 'email:',
};
const FIELDS = Object.keys(PREFIXES) as readonly (keyof Asked)[];

test('a CSR’s leaf has its values of copied fields, allowed usages, and nothing else', async () => {
  let issued = 0;
  const copies = fc.subarray([...FIELDS], { minLength: 1 });
  const csrKind = fc.constantFrom('P-256', 'P-384', 'RSA-3072' as const);
  const property = fc.asyncProperty(
    fc.record({ names: asked, copy: copies, key: csrKind, kinds, allowed: usages, wanted: usages }),
    async ({ names, copy, key, kinds: served, allowed, wanted }) => {
      const attributes = (type: string, of: readonly string[]): [string, string][] =>
        of.map((value) => [type, value]);
      const subject = [
        ...attributes(O, names.organizations),
        ...attributes(OU, names.organizationalUnits),
        ...attributes(CN, names.commonName),
      ];
      const request = made({ ...names, subject, usages: wanted, key: privateKey(key) });
      const plan = decideCsr({
        csr: { ...request.csr, status: { conditions: [{ type: 'Approved', status: 'True' }] } },
        profile: workloadProfile({
          pods: undefined,
          'requests.copy': copy,
          'requests.rules': [],
          'profile.usages': allowed,
          'profile.keyTypes': keyTypesOf(served),
        }),
        authority: authority.facts,
        reservedPrefixes: [],
        now: NOW,
      });
      const expected = copy.flatMap((field) => names[field].map((name) => PREFIXES[field] + name));
      const may =
        expected.length > 0 &&
        served.includes(key) &&
        !meaningless(wanted, key) &&
        !isWider(wanted, allowed) &&
        wanted.every((usage) => allowed.includes(usage) || meaningless([usage], key));
      assert.equal(plan.kind, may ? 'issue' : 'fail', JSON.stringify(plan));
      if (plan.kind !== 'issue') return;
      issued += 1;
      const leaf = await issuedLeaf(authority, plan, NOW);
      holds(leaf, key, wanted);
      assert.deepEqual([...namesOf(leaf)].sort(), expected.sort());
    },
  );
  await fc.assert(property, { numRuns: 600, seed: SEED });
  assert.ok(issued > 60, `only ${issued} of 600 were issued: the property says little`);
});

const PURPOSES: readonly Usage[] = ['client auth', 'server auth', 'code signing'];

/** Without a purpose a leaf is valid for each (RFC 5280 §4.2.1.12), and the profile limits them. */
function isWider(wanted: readonly Usage[], allowed: readonly Usage[]): boolean {
  const purposesOf = (of: readonly Usage[]): readonly Usage[] =>
    PURPOSES.filter((each) => of.includes(each));
  const both = allowed.includes('client auth') && allowed.includes('server auth');
  return purposesOf(wanted).length === 0 && purposesOf(allowed).length > 0 && !both;
}

/** Only bits that a key of this kind cannot have (RFC 5480 §3, RFC 3279 §2.3.1, RFC 9295 §3). */
function meaningless(wanted: readonly Usage[], key: Kind): boolean {
  const cannot: readonly Usage[] =
    key === 'Ed25519'
      ? ['key encipherment', 'key agreement']
      : [key === 'RSA-3072' ? 'key agreement' : 'key encipherment'];
  return wanted.every((usage) => cannot.includes(usage));
}

/** Names by Kubernetes' own grammar, and what somebody might try instead of them. */
const word = fc.oneof(
  fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/),
  fc.constantFrom('..', 'a/b', '%2e%2e', 'a?b', 'a#b', 'A b', '', 'ü', 'a\u0000'),
);

// Segments of a SPIFFE ID, §2.2 of its standard, said once more.
test('a pod’s leaf has the names of spec.pods, allowed usages, nothing of the stub', async () => {
  let issued = 0;
  const property = fc.asyncProperty(
    fc.record({ namespace: word, account: word, key: kind, kinds, allowed: usages }),
    async ({ namespace, account, key, kinds: served, allowed }) => {
      const algorithm =
        key === 'RSA-3072' ? RSA_SHA256 : key === 'Ed25519' ? ED25519 : ECDSA_SHA256;
      const stub = requestDer({ key: privateKey(key), algorithm });
      const request = podRequest({
        serviceAccountName: account,
        stubPKCS10Request: Buffer.from(stub).toString('base64'),
      });
      const profile = workloadProfile({
        'pods.allow': 'true',
        'pods.uris': ["'spiffe://td/ns/' + pod.namespace + '/sa/' + pod.serviceAccount"],
        'requests.rules': [],
        'profile.usages': allowed,
        'profile.keyTypes': keyTypesOf(served),
      });
      const plan = decidePod({
        request: { ...request, metadata: { ...request.metadata, namespace } },
        profile,
        authority: authority.facts,
        reservedPrefixes: [],
        now: NOW,
        random,
      });
      const uri = `spiffe://td/ns/${namespace}/sa/${account}`;
      const isName = /^spiffe:\/\/td(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._-]+)+$/.test(uri);
      const may = served.includes(key) && !meaningless(allowed, key);
      assert.equal(plan.kind, may ? (isName ? 'issue' : 'wait') : 'deny');
      if (plan.kind !== 'issue') return;
      issued += 1;
      const leaf = await issuedLeaf(authority, { ...plan, usages: allowed }, NOW);
      holds(leaf, key, allowed);
      assert.deepEqual(namesOf(leaf), [`URI:${uri}`]);
    },
  );
  await fc.assert(property, { numRuns: 600, seed: SEED });
  assert.ok(issued > 60, `only ${issued} of 600 were issued: the property says little`);
});
