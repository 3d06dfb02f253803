// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSignerName } from '../../../src/api/signer/signer-name.ts';

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

test('a hostile name is refused in linear time and shortened in the message', () => {
  const name = `${'a-'.repeat(100_000)}/x`;
  assert.throws(
    () => checkSignerName(name),
    (error: Error) => error.message.length < 300,
  );
});
