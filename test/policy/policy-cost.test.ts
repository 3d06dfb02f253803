// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestRule } from '../../src/api/cluster-signer.ts';
import { MAX_COST } from '../../src/cel/compile.ts';
import { compilePolicy } from '../../src/policy/compile-policy.ts';
import { MAX_POLICY_COST } from '../../src/policy/policy-cost.ts';
import { refuses } from '../support/refuses.ts';
import { specOf } from './request.ts';

/** Dear alone, and yet within the limit. */
const DEAR = "csr.uris.all(u, u.matches('^spiffe://a[.]b/[a-z]+$'))";

const rules = (count: number): readonly RequestRule[] =>
  Array.from({ length: count }, (_value, index) => ({
    name: `rule-${index}`,
    when: index === 3 ? `${DEAR} && ${DEAR}` : DEAR,
    allow: {},
  }));

test('rules that are cheap enough one by one may not be so together; the dearest is named', () => {
  const policy = compilePolicy(specOf({ copy: [], rules: rules(4) }));
  const each = policy.rules[0]?.when.cost ?? NaN;
  assert.ok(each < MAX_COST / 2 && 4 * each < MAX_POLICY_COST);
  const count = Math.ceil(MAX_POLICY_COST / each);
  refuses(
    () => compilePolicy(specOf({ copy: [], rules: rules(count) })),
    'CEL_COST',
    /^spec\.requests: .* together at worst.* spec\.requests\.rules\[3\]\.when costs most/,
    'wait',
  );
});
