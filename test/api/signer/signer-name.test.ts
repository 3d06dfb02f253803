// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizingNames } from '#base/authorizing-names.ts';
import { checkSignerDomain, checkSignerName } from '#api/signer/signer-name.ts';

const label63 = 'a'.repeat(63);

// Rows of Kubernetes' own TestValidateSignerName and the limits of ValidateSignerName.
const accepted = [
  'example.com/workload',
  'a.b/c',
  'example.com/a-b.c-d',
  'x1.example.com/9',
  `${label63}.example.com/p`,
  `example.com/${'p'.repeat(253)}`,
  `example.com/${label63}.${'p'.repeat(253)}`,
  `${[label63, label63, label63, 'a'.repeat(61)].join('.')}/p`,
  'signers.countersign.dev/team-a.web',
  'notkubernetes.io/x',
];

const refused: [name: string, message: RegExp][] = [
  ['', /exactly one slash/],
  ['example.com', /exactly one slash/],
  ['example.com/', /exactly one slash/],
  ['/workload', /exactly one slash/],
  ['example.com/a/b', /exactly one slash/],
  ['localhost/workload', /DNS name with a dot/],
  ['Example.com/workload', /DNS name with a dot/],
  ['example..com/workload', /DNS name with a dot/],
  ['-example.com/workload', /DNS name with a dot/],
  ['example.com-/workload', /DNS name with a dot/],
  ['exa_mple.com/workload', /DNS name with a dot/],
  ['*.example.com/workload', /DNS name with a dot/],
  [`a${label63}.com/workload`, /DNS name with a dot/],
  [`${[label63, label63, label63, 'a'.repeat(62)].join('.')}/p`, /DNS name with a dot/],
  ['example.com/Workload', /dot-separated DNS labels/],
  ['example.com/*', /dot-separated DNS labels/],
  ['example.com/a..b', /dot-separated DNS labels/],
  ['example.com/.a', /dot-separated DNS labels/],
  ['example.com/a:b', /dot-separated DNS labels/],
  ['example.com/a\n', /dot-separated DNS labels/],
  [`example.com/${'p'.repeat(254)}`, /dot-separated DNS labels/],
  [`example.com/${`${'p'.repeat(250)}.`.repeat(3)}p`, /more than the limit of 571/],
  ['kubernetes.io/x', /is in a domain reserved for Kubernetes/],
  ['certificates.kubernetes.io/x', /is in a domain reserved for Kubernetes/],
];

for (const name of accepted) {
  test(`${name.slice(0, 60)} is a signer name`, () => {
    const slash = name.indexOf('/');
    assert.deepEqual(checkSignerName(name), {
      domain: name.slice(0, slash),
      path: name.slice(slash + 1),
    });
  });
}

for (const [name, message] of refused) {
  test(`${JSON.stringify(name.slice(0, 60))} is refused: ${message.source}`, () => {
    assert.throws(() => checkSignerName(name), {
      code: 'SIGNER_NAME_INVALID',
      disposition: 'fail',
      message,
    });
  });
}

test('Kubernetes tries the exact name first, then all signers of the domain', () => {
  for (const verb of ['approve', 'sign', 'attest', 'request', 'revoke', 'request-on-behalf'])
    assert.deepEqual(authorizingNames(verb, 'a.example.com/b.c'), [
      'a.example.com/b.c',
      'a.example.com/*',
    ]);
});

test('the name of all signers of a domain has no wider one', () => {
  assert.deepEqual(authorizingNames('sign', 'example.com/*'), ['example.com/*']);
});

for (const [domain, message] of [
  ['example.com/workload', /is not a domain/],
  ['*.com', /is not a domain/],
  ['com', /is not a domain/],
  ['Example.com', /is not a domain/],
  ['kubernetes.io', /has signers that are not yours/],
  ['x.k8s.io', /has signers that are not yours/],
  ['countersign.dev', /has signers that are not yours/],
  ['signers.countersign.dev', /has signers that are not yours/],
  ['acmesigners.acme.countersign.dev', /has signers that are not yours/],
  [
    'example.org',
    /has none of the signers that are named; name one, such as example.org\/workload/,
  ],
] as const) {
  test(`no component serves all signers of ${domain}: ${message.source}`, () => {
    const names = ['example.com/workload', `${domain}.example/x`];
    const served = message.source.includes('none') ? names : [...names, `${domain}/x`];
    assert.throws(() => {
      checkSignerDomain(domain, served);
    }, message);
  });
}

test('a domain of which a signer is named is taken', () => {
  checkSignerDomain('example.com', ['example.com/workload']);
});

test('a hostile name is refused in linear time and shortened in the message', () => {
  const name = `${'a-'.repeat(100_000)}/x`;
  assert.throws(
    () => checkSignerName(name),
    (error: Error) => error.message.length < 300,
  );
});
