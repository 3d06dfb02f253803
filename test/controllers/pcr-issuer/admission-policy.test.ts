// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../../build/demo-installation.ts';
import { renderAdmission } from '../../../src/manifests/render.ts';
import { POLICY_NAME, policyGaps } from '../../../src/controllers/pcr-issuer/admission-policy.ts';
import { KubeError } from '../../../src/kube/client/kube-error.ts';
import { parseAllDocuments } from 'yaml';
import { recordedClient } from '../../support/kube/recorded-client.ts';

const NAMES = ['example.com/a', 'example.com/b'];

/** What `countersign rbac` prints for these signer names: the policy and its binding. */
function printed(
  signers: readonly string[],
  namespacedSigners = false,
): readonly [Shipped, Shipped] {
  const files = renderAdmission({ ...DEMO, signers, bundles: [], namespacedSigners });
  const text = files.get('pod-certificate-requests.yaml') ?? '';
  const [policy, binding] = parseAllDocuments(text).map((each) => each.toJS() as Shipped);
  assert.ok(policy && binding);
  return [policy, binding];
}

interface Shipped {
  readonly kind: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

const gone = (): never => {
  throw new KubeError({ status: 404, what: 'GET policy', body: { reason: 'NotFound' } });
};

async function gaps(
  policy: Shipped | undefined,
  binding: Shipped | undefined,
  names: readonly string[] = NAMES,
): Promise<readonly string[]> {
  const client = recordedClient();
  client.answer(({ path }) => (path.includes('bindings/') ? binding : policy) ?? gone());
  const found = await policyGaps(client, names);
  for (const { method, path } of client.requests) {
    assert.equal(method, 'GET');
    assert.ok(path.endsWith(`/${POLICY_NAME}`));
  }
  return found;
}

const [policy, binding] = printed(NAMES);
const withSpec = (object: Shipped, more: object): Shipped => ({
  ...object,
  spec: { ...object.spec, ...more },
});

test('a policy generated for the served names leaves no gap', async () => {
  assert.deepEqual(await gaps(policy, binding), []);
});

test('an installation that serves no names needs no policy', async () => {
  assert.deepEqual(await gaps(undefined, undefined, []), []);
});

test('a name missing from the policy is reported', async () => {
  const found = await gaps(printed(['example.com/a'])[0], binding);
  assert.equal(found.length, 1);
  assert.match(found[0] ?? '', /does not name example\.com\/b: .*countersign rbac/);
});

test('a policy generated with the opt-in covers all derived names by their prefix', async () => {
  const served = [...NAMES, 'signers.countersign.dev/'];
  assert.deepEqual(await gaps(printed(NAMES, true)[0], binding, served), []);
  const [found] = await gaps(policy, binding, served);
  assert.match(found ?? '', /does not name signers\.countersign\.dev\//);
});

for (const [law, shipped, bound, message] of [
  ['is not there', undefined, binding, /is not installed/],
  ['is bound to nothing', policy, undefined, /Binding .* does not deny everywhere/],
  [
    'only audits',
    policy,
    withSpec(binding, { validationActions: ['Audit'] }),
    /does not deny everywhere/,
  ],
  [
    'denies in some namespaces only',
    policy,
    withSpec(binding, { matchResources: { namespaceSelector: {} } }),
    /does not deny everywhere/,
  ],
  ['fails open', withSpec(policy, { failurePolicy: 'Ignore' }), binding, /failurePolicy Ignore/],
] as const) {
  test(`a policy that ${law} is reported`, async () => {
    const found = await gaps(shipped, bound);
    assert.equal(found.length, 1);
    assert.match(found[0] ?? '', message);
  });
}
