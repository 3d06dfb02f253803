// SPDX-License-Identifier: Apache-2.0
/**
 * Requests as tools write them: which a rule approves as they are, and what the refusal says for
 * the others.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { AllowSpec, RequestsSpec } from '#api/signer/cluster-signer.ts';
import { decodePem } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { review, type Verdict } from '#ca/policy/review.ts';
import {
  bits,
  extension,
  int,
  octets,
  oid,
  printable,
  seq,
  set,
  utf8,
} from '../../support/pki/der.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { CN, O, csrOf, specOf, verdictOf, type Wanted } from './request.ts';

const KEY_USAGE = '2.5.29.15';
const EXT_KEY_USAGE = '2.5.29.37';
const BASIC_CONSTRAINTS = '2.5.29.19';
const SUBJECT_KEY_IDENTIFIER = '2.5.29.14';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';

/** digitalSignature alone, and with keyEncipherment. */
const SIGNING = bits([0x80], 7);
const TLS_RSA = bits([0xa0], 5);
const USAGES = ['digital signature', 'client auth', 'server auth'] as const;

function rulesOf(more: AllowSpec = {}): RequestsSpec {
  const allow = { commonName: 'true', organizations: 'true', dnsNames: 'true', uris: 'true' };
  return {
    copy: ['commonName', 'organizations', 'dnsNames', 'uris'],
    rules: [{ name: 'all', when: 'true', allow: { ...allow, usages: [...USAGES], ...more } }],
  };
}

const attribute = (type: string, value: Uint8Array): Uint8Array => seq(oid(type), set(value));
const keyIdentifier = extension(SUBJECT_KEY_IDENTIFIER, octets(new Uint8Array(20)));
const notCa = extension(BASIC_CONSTRAINTS, seq());
const purposes = (...all: readonly string[]): Uint8Array =>
  extension(EXT_KEY_USAGE, seq(...all.map(oid)));

const PASS: Readonly<Record<string, Wanted>> = {
  'kubeadm and kubelet: a subject alone': {
    subject: [
      [O, 'dev'],
      [CN, 'jane'],
    ],
  },
  'Istio agent: one SPIFFE ID and a critical subjectAltName of nothing else': {
    subject: [[O, 'cluster.local']],
    uris: ['spiffe://cluster.local/ns/a/sa/b'],
  },
  'step: names alone': { dnsNames: ['a.example.com'] },
  'cfssl: names alone': {
    subject: [
      [CN, 'a.example.com'],
      [O, 'x'],
    ],
    dnsNames: ['a.example.com'],
  },
  'cert-manager: keyUsage and extendedKeyUsage as in spec.usages': {
    subject: [],
    dnsNames: ['a.example.com'],
    extensions: [extension(KEY_USAGE, SIGNING, true), purposes(SERVER_AUTH, CLIENT_AUTH)],
    usages: USAGES,
  },
  'openssl with v3_req: CA:FALSE and the usages': {
    extensions: [notCa, extension(KEY_USAGE, SIGNING)],
  },
  'Go, kubeadm, cert-manager: key encipherment for an ECDSA key, which its leaf does not get': {
    dnsNames: ['a.example.com'],
    extensions: [extension(KEY_USAGE, TLS_RSA, true), purposes(SERVER_AUTH)],
    usages: ['digital signature', 'key encipherment', 'server auth'],
  },
  // X.520 has at most 64 letters for a common name (ub-common-name), and RFC 1035 253 for a name.
  'acme.sh: an internationalized name of more than 64 letters, and no common name': {
    dnsNames: [`xn--${'a'.repeat(59)}.${'b'.repeat(63)}.example.com`],
  },
  'keyEncipherment for an ECDSA key in PKCS#10 alone': {
    extensions: [extension(KEY_USAGE, TLS_RSA, true)],
  },
  'keytool: subjectKeyIdentifier': { dnsNames: ['a.example.com'], extensions: [keyIdentifier] },
};

/** What is refused, by what the message says, and the rule that lets it through. */
const REFUSED: readonly (readonly [string, Wanted, RegExp, AllowSpec])[] = [
  [
    'openssl with a challenge password',
    { attributes: [attribute('1.2.840.113549.1.9.7', utf8('secret'))] },
    /allow\.attributes does not allow 1\.2\.840\.113549\.1\.9\.7 \(challengePassword\): remove/,
    { attributes: ['1.2.840.113549.1.9.7'] },
  ],
  [
    'openssl with an unstructured name',
    { attributes: [attribute('1.2.840.113549.1.9.2', utf8('x'))] },
    /unstructuredName/,
    { attributes: ['1.2.840.113549.1.9.2'] },
  ],
  [
    'openssl with v3_req of a signing and encrypting key',
    { extensions: [notCa, extension(KEY_USAGE, bits([0xe0], 5))] },
    /allow\.extensions does not allow 2\.5\.29\.15 \(keyUsage, with nonRepudiation \("content commitment"\), which spec\.usages does not have\)/,
    { extensions: [KEY_USAGE] },
  ],
  [
    'an RSA key, whose keyUsage is more than the usages of the object',
    { key: privateKey('RSA-2048'), extensions: [extension(KEY_USAGE, TLS_RSA, true)] },
    /keyUsage, with keyEncipherment \("key encipherment"\)/,
    { extensions: [KEY_USAGE] },
  ],
  [
    'a purpose that spec.usages does not have',
    { extensions: [purposes(SERVER_AUTH, CODE_SIGNING)] },
    /2\.5\.29\.37 \(extendedKeyUsage, with 1\.3\.6\.1\.5\.5\.7\.3\.1 \("server auth"\), 1\.3\.6\.1\.5\.5\.7\.3\.3 \("code signing"\), which/,
    { extensions: [EXT_KEY_USAGE] },
  ],
  [
    'anyExtendedKeyUsage',
    { extensions: [purposes('2.5.29.37.0')] },
    /2\.5\.29\.37/,
    { extensions: [EXT_KEY_USAGE] },
  ],
  [
    'must-staple',
    { extensions: [extension('1.3.6.1.5.5.7.1.24', seq(int(5)))] },
    /TLS feature, must-staple/,
    { extensions: ['1.3.6.1.5.5.7.1.24'] },
  ],
  [
    'a security identifier',
    { extensions: [extension('1.3.6.1.4.1.311.25.2', seq())] },
    /Microsoft security identifier/,
    { extensions: ['1.3.6.1.4.1.311.25.2'] },
  ],
  [
    'step with a template: an extension that nobody knows',
    { extensions: [extension('1.3.6.1.4.1.37476.9000.64.1', seq())] },
    /allow\.extensions does not allow 1\.3\.6\.1\.4\.1\.37476\.9000\.64\.1: remove/,
    { extensions: ['1.3.6.1.4.1.37476.9000.64.1'] },
  ],
  [
    'certreq',
    {
      attributes: [
        attribute('1.3.6.1.4.1.311.13.2.3', utf8('10.0.20348.2')),
        attribute('1.3.6.1.4.1.311.21.20', seq(int(5), utf8('h'), utf8('u'), utf8('certreq'))),
        attribute('1.3.6.1.4.1.311.13.2.2', seq(int(1), printable('CSP'), bits([]))),
      ],
      extensions: [
        extension(KEY_USAGE, SIGNING, true),
        keyIdentifier,
        extension('1.2.840.113549.1.9.15', seq()),
      ],
    },
    /smimeCapabilities.*Microsoft OS version.*Microsoft client information/,
    {
      extensions: ['1.2.840.113549.1.9.15'],
      attributes: ['1.3.6.1.4.1.311.13.2.3', '1.3.6.1.4.1.311.21.20', '1.3.6.1.4.1.311.13.2.2'],
    },
  ],
];

describe('a request of a tool that says no more than its names and usages is approved', () => {
  for (const [what, wanted] of Object.entries(PASS)) {
    test(what, () => {
      const { outcome, reasons } = verdictOf(rulesOf(), wanted);
      assert.equal(outcome, 'approve', JSON.stringify(reasons));
    });
  }
});

describe('a request with more waits, and the rule that names it lets it through', () => {
  for (const [what, wanted, message, allow] of REFUSED) {
    test(what, () => {
      const { outcome, reasons } = verdictOf(rulesOf(), wanted);
      assert.equal(outcome, 'noOpinion');
      assert.match(reasons[0]?.message ?? '', message);
      assert.equal(verdictOf(rulesOf(allow), wanted).outcome, 'approve');
    });
  }
});

test('rules see the attributes and extensions of a request', () => {
  const spec: RequestsSpec = {
    ...rulesOf(),
    deny: [
      {
        name: 'no-password',
        when: "'1.2.840.113549.1.9.7' in csr.attributes || csr.extensions.exists(e, e.startsWith('1.3.6.'))",
        message: 'no',
      },
    ],
  };
  assert.equal(verdictOf(spec, REFUSED[0]?.[1] ?? {}).outcome, 'deny');
  assert.equal(verdictOf(spec, REFUSED[6]?.[1] ?? {}).outcome, 'deny');
  assert.equal(verdictOf(spec, {}).outcome, 'approve');
});

function opensslRequest(...args: readonly string[]): Verdict {
  const { stdout, status, stderr } = spawnSync(
    'openssl',
    [
      'req',
      '-new',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      '/dev/null',
      ...args,
    ],
    { encoding: 'utf8' },
  );
  assert.equal(status, 0, stderr);
  const request = decodeRequest(decodePem(stdout, 'CERTIFICATE REQUEST'));
  return review(compilePolicy(specOf(rulesOf())), csrOf(stdout), request);
}

test('openssl req with its stock configuration is approved', () => {
  assert.equal(opensslRequest('-subj', '/O=dev/CN=jane').outcome, 'approve');
  const named = opensslRequest('-subj', '/CN=jane', '-addext', 'subjectAltName=DNS:a.example.com');
  assert.equal(named.outcome, 'approve');
  const stapled = opensslRequest('-subj', '/CN=jane', '-addext', 'tlsfeature=status_request');
  assert.match(stapled.reasons[0]?.message ?? '', /must-staple/);
});
