// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  objectToCreate,
  requireAcceptable,
  type RequestedParts,
} from '#cli/commands/request/request-object.ts';
import { privateKey } from '../../support/pki/keys.ts';

/** A DNS subdomain (RFC 1123), as the API server requires of a CertificateSigningRequest. */
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const NAMES = [
  'jane',
  'my-pod.my-namespace.pod.cluster.local',
  'web-1.-a',
  'a..b',
  'a.-b',
  'a-.b',
  'web_server',
  'Web01.Example.COM',
  'jane@example.com',
  'https://issuer.example.com#jane',
  '-',
  '...',
  'ÄÖÜ',
  '*.example.com',
  `${'a'.repeat(39)}.b`,
  'x'.repeat(300),
];

const PARTS: RequestedParts = {
  name: 'web',
  group: [],
  dns: [],
  ip: [],
  uri: [],
  email: [],
  usage: [],
  signer: 'example.com/people',
};

for (const name of NAMES) {
  test(`the object of ${name.slice(0, 40)} has a name that the API server takes`, () => {
    const { name: made } = objectToCreate({ ...PARTS, name }, privateKey('P-256')).metadata;
    assert.match(made, SUBDOMAIN);
    assert.ok(made.length <= 253);
  });
}

const REFUSED: readonly (readonly [what: string, more: Partial<RequestedParts>, says: RegExp])[] = [
  ['upper case', { dns: ['WEB.Example.com'] }, /write "web\.example\.com"/],
  ['a trailing dot', { dns: ['web.example.com.'] }, /"web\.example\.com\."/],
  // The A-labels are those of Python's codec idna, and of RFC 3492 for Cyrillic.
  ['an internationalized name', { dns: ['götz.it'] }, /write "xn--gtz-sna\.it"/],
  ['one with a wildcard', { dns: ['*.bücher.example'] }, /write "\*\.xn--bcher-kva\.example"/],
  ['one that is not Latin', { dns: ['пример.рф'] }, /write "xn--e1afmkfd\.xn--p1ai"/],
  ['a bad wildcard', { dns: ['*.internal'] }, /whole top-level domain/],
  ['an address that is none', { ip: ['10.0.0.256'] }, /10\.0\.0\.256/],
  ['a group of Kubernetes', { group: ['system:masters'] }, /"system:masters"/],
  ['a usage of CAs', { usage: ['cert sign'] }, /"cert sign"/],
  [
    'two problems, in one message',
    { dns: ['A.example.com'], email: ['a@B.example'] },
    /"A\.example\.com".*"a@B\.example"/,
  ],
];

for (const [what, more, says] of REFUSED) {
  test(`nothing is created with ${what}`, () => {
    assert.throws(() => {
      requireAcceptable(objectToCreate({ ...PARTS, ...more }, privateKey('P-256')));
    }, says);
  });
}

test('a good request is created as it was', () => {
  const object = objectToCreate({ ...PARTS, dns: ['web.example.com'] }, privateKey('P-256'));
  requireAcceptable(object);
  assert.deepEqual(object.spec.usages, ['digital signature', 'client auth']);
});
