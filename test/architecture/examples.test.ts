// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { secretOf, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import type { KubeObject } from '#api/object/object.ts';
import { DEMO } from '../../build/demo-installation.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compileIssuerPolicy, compilePolicy } from '#ca/policy/compile-policy.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';

function exampleOf(name: string): ClusterSigner {
  const path = join(import.meta.dirname, '../../deploy/examples', `${name}.yaml`);
  return readClusterSigner(parse(readFileSync(path, 'utf8')) as KubeObject);
}

const examples = ['workload', 'people'].map(exampleOf);

for (const { metadata, spec } of [...examples, exampleOf('servers')]) {
  test(`the example ${metadata.name} compiles, and serves in a day at the most`, () => {
    assert.ok(compileProfile(spec).maxDurationSeconds <= 86_400);
    assert.equal(compilePolicy(spec).rules.length, spec.requests?.rules?.length ?? 0);
    const { rules } = compileIssuerPolicy(spec);
    assert.equal(rules.length, spec.certificateRequests?.rules.length ?? 0);
  });
}

test('the shipped roles and policies are made for the names of the examples', () => {
  assert.deepEqual(
    DEMO.signers,
    examples.map(({ spec }) => spec.signerName),
  );
  assert.deepEqual(
    DEMO.secrets,
    examples.map(({ spec }) => secretOf(spec)),
  );
  assert.deepEqual(
    DEMO.bundles,
    examples.flatMap(({ spec: { signerName, trustBundle } }) =>
      trustBundle === undefined ? [] : [bundleName(signerName, trustBundle.name)],
    ),
  );
});
