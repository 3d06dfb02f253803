// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { challengeTypeOf, needsSolver } from '#api/acme/acme-signer.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { SignerError } from '#base/errors.ts';
import { acmeObject } from './build.ts';

test('an AcmeSigner has a derived name and the defaults of its CRD', () => {
  const { spec } = readAcmeSigner(acmeObject());
  assert.equal(spec.signerName, 'acmesigners.acme.countersign.dev/team-a.web');
  assert.equal(spec.profile.maxDuration, '4800h');
  assert.equal(spec.profile.backdate, '0s');
  assert.equal(spec.acme.termsOfServiceAgreed, false);
  assert.equal(spec.acme.maxConcurrent, 60);
  assert.equal(spec.acme.renewalInfo, true);
});

test('an AcmeClusterSigner has the name that it chooses', () => {
  const { spec } = readAcmeSigner(acmeObject({}, 'example.com/public'));
  assert.equal(spec.signerName, 'example.com/public');
});

const two = { name: 'dns', rfc2136: { server: '192.0.2.1:53' }, persist: {} };
const both = { name: 'web', http01: { ingress: {}, gateway: { name: 'g' } } };
const refused: [law: string, acme: object, signerName: string | undefined, says: RegExp][] = [
  ['the derived name of an AcmeSigner', {}, 'acmesigners.acme.countersign.dev/a.b', /reserved/],
  ['the derived name of a Signer', {}, 'signers.countersign.dev/a.b', /reserved/],
  ['a name of Kubernetes', {}, 'kubernetes.io/public', /signer name "kubernetes.io/],
  ['a server that is not HTTPS', { server: 'http://acme.example/' }, undefined, /acme\.server/],
  ...[
    'http://ca.example',
    'https://ca.example/dir',
    'https://user@ca.example',
    'https://ca.example:99999',
    'ca.example',
  ].map((origin): (typeof refused)[number] => [
    `the origin ${origin}`,
    { additionalOrigins: [origin] },
    undefined,
    /acme\.additionalOrigins/,
  ]),
  [
    'nine further origins',
    { additionalOrigins: Array.from({ length: 9 }, (_, at) => `https://ca-${at}.example`) },
    undefined,
    /acme\.additionalOrigins/,
  ],
  ['a solver of two kinds', { solvers: [two] }, undefined, /exactly one of http01/],
  ['an Ingress and a Gateway', { solvers: [both] }, undefined, /both ingress and gateway/],
  [
    'two solvers of one name',
    {
      solvers: [
        { name: 'a', persist: {} },
        { name: 'a', persist: {} },
      ],
    },
    undefined,
    /same name/,
  ],
  [
    'another namespace’s Secret',
    { accountKey: { secret: { name: 'a', namespace: 'b' } } },
    undefined,
    /Unrecognized key: "namespace"/,
  ],
  ['a field of a later version', { mustStaple: true }, undefined, /Unrecognized key: "mustStaple"/],
];

for (const [law, acme, signerName, says] of refused) {
  test(`refused, with what to do: ${law}`, () => {
    assert.throws(
      () => readAcmeSigner(acmeObject({ ...acme }, signerName)),
      (error) =>
        error instanceof SignerError && error.code === 'SPEC_INVALID' && says.test(error.message),
    );
  });
}

test('an AcmeSigner has no further origins by default, and takes eight', () => {
  assert.equal(readAcmeSigner(acmeObject()).spec.acme.additionalOrigins, undefined);
  const additionalOrigins = Array.from({ length: 8 }, (_, at) => `https://ca-${at}.example:8443`);
  const { spec } = readAcmeSigner(acmeObject({ additionalOrigins }));
  assert.deepEqual(spec.acme.additionalOrigins, additionalOrigins);
});

test('a limit of life beyond every public CA is refused', () => {
  const object = acmeObject();
  const spec = {
    ...(object as unknown as { spec: object }).spec,
    profile: { maxDuration: '9601h' },
  };
  assert.throws(() => readAcmeSigner({ ...object, spec }), /between 1h and 9600h/);
});

test('a solver has a type of challenge, and acme-solver or nobody presents for it', () => {
  const { spec } = readAcmeSigner(
    acmeObject({
      solvers: [
        { name: 'a', http01: {} },
        { name: 'b', http01: { ingress: {} } },
        { name: 'c', http01: { gateway: { name: 'g' } } },
        { name: 'd', acmeDNS: { server: 'http://acme-dns', secret: { name: 's' } } },
        { name: 'e', persist: {} },
      ],
    }),
  );
  assert.deepEqual(
    spec.acme.solvers.map((each) => [challengeTypeOf(each), needsSolver(each)]),
    [
      ['http-01', false],
      ['http-01', true],
      ['http-01', true],
      ['dns-01', true],
      ['dns-persist-01', false],
    ],
  );
});

test('a signer of CSRs copies all that ACME proves, unless its spec says otherwise', () => {
  const copyOf = (requests: object): unknown => {
    const object = acmeObject({}, 'example.com/public') as KubeObject & { spec: object };
    return readAcmeSigner({ ...object, spec: { ...object.spec, requests } }).spec.requests?.copy;
  };
  assert.deepEqual(copyOf({}), ['commonName', 'dnsNames', 'ipAddresses']);
  assert.deepEqual(copyOf({ copy: ['dnsNames'] }), ['dnsNames']);
  assert.equal(readAcmeSigner(acmeObject({}, 'example.com/public')).spec.requests, undefined);
});
