// SPDX-License-Identifier: Apache-2.0
/**
 * What spec.pods and spec.profile are compiled to. spec.requests:
 * test/ca/policy/compile-policy.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ErrorCode } from '#base/errors.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { workload, workloadProfile } from '../../support/signers/workload-profile.ts';

const ROWS: Readonly<
  Record<string, readonly [path: string, value: unknown, code: ErrorCode, message: RegExp]>
> = {
  'an unknown field is named, with its line and column': [
    'pods.allow',
    "pod.namespace == 'a' &&\n  pod.nmae == 'b'",
    'CEL_INVALID',
    /^spec\.pods\.allow: line 2, column 7: .*nmae/,
  ],
  'an unknown function is named': [
    'pods.uris',
    ["'spiffe://a/b'", "'spiffe://a/' + pod.name.upper()"],
    'CEL_INVALID',
    /^spec\.pods\.uris\[1\]: line 1, column \d+: .*upper/,
  ],
  'an expression for a name that returns bool': [
    'pods.dnsNames',
    ['pod.name == pod.uid'],
    'CEL_INVALID',
    /^spec\.pods\.dnsNames\[0\]: line 1, column 1: the expression returns bool; it must return string/,
  ],
  'an expression of allow that returns a string': [
    'pods.allow',
    'pod.name',
    'CEL_INVALID',
    /^spec\.pods\.allow: line 1, column 1: the expression returns string; it must return bool/,
  ],
  'a variable of other requests': [
    'pods.commonName',
    'request.username',
    'CEL_INVALID',
    /^spec\.pods\.commonName: line 1, column 1: .*request/,
  ],
  'a syntax error': [
    'pods.allow',
    "pod.name ==\n\n  'a' &&",
    'CEL_INVALID',
    /^spec\.pods\.allow: line 3, column \d+: /,
  ],
  'a pattern that is an expression': [
    'pods.allow',
    'pod.name.matches(pod.namespace)',
    'CEL_INVALID',
    /^spec\.pods\.allow: line 1, column \d+: .*literal/,
  ],
  'a pattern that is not RE2': [
    'pods.annotations.0.pattern',
    '(?=a)b',
    'SPEC_INVALID',
    /^spec\.pods\.annotations\[0\]\.pattern: cannot use the RE2 pattern "\(\?=a\)b": /,
  ],
};

describe('a profile that does not compile names field and reason, and its requests wait', () => {
  for (const [law, [path, value, code, message]] of Object.entries(ROWS)) {
    test(law, () => {
      const { spec } = workload({ [path]: value });
      refuses(() => compileProfile(spec), code, message, 'wait');
    });
  }
});

test('a compiled profile and a compiled policy are frozen', () => {
  const { spec } = workload();
  const thawed = [compileProfile(spec), compilePolicy(spec)].flatMap((made) => notFrozen(made, ''));
  assert.deepEqual(thawed, []);
});

test('later changes of the spec do not change the compiled profile', () => {
  const { spec } = workload();
  const copy = structuredClone(spec) as unknown as {
    profile: { usages: string[]; keyTypes: string[] };
  };
  const profile = compileProfile(copy as unknown as typeof spec);
  copy.profile.usages.push('any');
  copy.profile.keyTypes.push('RSA2048');
  assert.deepEqual(profile, { ...profile, ...onlyLists(workloadProfile()) });
});

const onlyLists = ({ usages, keyTypes }: ReturnType<typeof workloadProfile>): object => ({
  usages,
  keyTypes,
});

/**
 * Paths of objects and lists that could be changed; what is behind a function or a map is not seen.
 */
function notFrozen(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null || value instanceof Map) return [];
  const inner = Object.entries(value).flatMap(([key, each]) => notFrozen(each, `${path}.${key}`));
  return Object.isFrozen(value) ? inner : [path, ...inner];
}
