// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RequestsSpec } from '#api/signer/cluster-signer.ts';
import type { ErrorCode } from '#base/errors.ts';
import { compilePolicy } from '#ca/policy/compile-policy.ts';
import { refuses } from '../../support/pki/refuses.ts';
import { OWN_NAME, specOf } from './request.ts';

const rule = (when: string, commonName = 'true'): RequestsSpec => ({
  copy: ['commonName'],
  rules: [
    { name: 'first', when: 'true', allow: {} },
    { name: 'second', when, allow: { commonName } },
  ],
});

const deny = (when: string): RequestsSpec => ({
  copy: ['commonName'],
  deny: [{ name: 'd', when, message: 'm' }],
});

interface Row {
  readonly law: string;
  readonly requests: RequestsSpec;
  readonly code: ErrorCode;
  readonly message: RegExp;
}

const ROWS: readonly Row[] = [
  {
    law: 'an unknown field is named, with its line and column',
    requests: rule('true\n  && request.user == "jane"'),
    code: 'CEL_INVALID',
    message: /^spec\.requests\.rules\[1\]\.when: line 2, column 14: .*user/,
  },
  {
    law: 'an unknown function is named',
    requests: rule('request.username.startWith("j")'),
    code: 'CEL_INVALID',
    message: /^spec\.requests\.rules\[1\]\.when: line 1, column \d+: .*startWith/,
  },
  {
    law: 'an error in allow names its field',
    requests: rule('true', 'self == 1'),
    code: 'CEL_INVALID',
    message: /^spec\.requests\.rules\[1\]\.allow\.commonName: line 1, column 1: .*string == int/,
  },
  {
    law: 'self exists in allow only',
    requests: rule("self == 'jane'"),
    code: 'CEL_INVALID',
    message: /rules\[1\]\.when: line 1, column 1: .*self/,
  },
  {
    law: 'pod belongs to other requests',
    requests: deny("pod.namespace == 'a'"),
    code: 'CEL_INVALID',
    message: /^spec\.requests\.deny\[0\]\.when: line 1, column 1: .*pod/,
  },
  {
    law: 'has() of a field that does not exist is a mistake, not false',
    requests: deny('has(csr.uri)'),
    code: 'CEL_INVALID',
    message: /^spec\.requests\.deny\[0\]\.when: .*uri/,
  },
  {
    law: 'a rule answers with true or false',
    requests: rule('request.username'),
    code: 'CEL_INVALID',
    message: /rules\[1\]\.when: line 1, column 1: .*string.*bool/,
  },
  {
    law: 'a pattern is a literal',
    requests: rule('request.username.matches(csr.subject.commonName)'),
    code: 'CEL_INVALID',
    message: /rules\[1\]\.when: .*literal/,
  },
  {
    law: 'a pattern is RE2',
    requests: rule("request.username.matches('(a)\\\\1')"),
    code: 'CEL_INVALID',
    message: /rules\[1\]\.when: .*RE2/,
  },
  {
    law: 'loops inside loops inside loops cost too much',
    requests: deny(
      'request.groups.exists(a, request.groups.exists(b, request.groups.exists(c, a == b + c)))',
    ),
    code: 'CEL_COST',
    message: /^spec\.requests\.deny\[0\]\.when: line 1, column \d+: /,
  },
];

describe('compiling a policy', () => {
  for (const { law, requests, code, message } of ROWS) {
    test(law, () => refuses(() => compilePolicy(specOf(requests)), code, message, 'wait'));
  }

  test('a spec without requests compiles to a policy without rules', () => {
    const { requests: _, ...spec } = specOf(OWN_NAME);
    const policy = compilePolicy(spec);
    assert.deepEqual([policy.rules, policy.deny, policy.profile.copy], [[], [], []]);
  });

  test('a policy does not change when its spec object does', () => {
    const copy: ('commonName' | 'organizations')[] = ['commonName'];
    const policy = compilePolicy(specOf({ ...OWN_NAME, copy }));
    copy.push('organizations');
    assert.deepEqual(policy.profile.copy, ['commonName']);
    assert.ok(Object.isFrozen(policy) && Object.isFrozen(policy.profile));
  });

  test('a rule allows only those of its usages that the profile includes', () => {
    const [rule0] = OWN_NAME.rules ?? [];
    assert.ok(rule0);
    const usages = ['client auth', 'code signing'] as const;
    const policy = compilePolicy(
      specOf({ ...OWN_NAME, rules: [{ ...rule0, allow: { ...rule0.allow, usages } }] }),
    );
    assert.deepEqual(policy.rules[0]?.usages, ['client auth']);
  });
});
