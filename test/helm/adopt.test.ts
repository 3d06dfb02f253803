// SPDX-License-Identifier: Apache-2.0
/** What comes before a release: an installation by kustomize, and a release that failed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { CHART } from './helm.ts';
import { KINDS, NEXT_TAG, ONE, RELEASE, namesOf, startStand, type Stand } from './stand.ts';

const ROOT = join(import.meta.dirname, '../..');
const WAIT_MS = 60_000;
const COMPONENT_LABEL = 'app.kubernetes.io/component';

let stand: Stand;
before(async () => (stand = await startStand({ realPods: false })));
after(() => stand.close());

test('a release that failed half way is repeated by helm upgrade --install', async () => {
  const name = 'no-deployments';
  const version = 'admissionregistration.k8s.io/v1';
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'] };
  await apply(stand.cluster, {
    apiVersion: version,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [{ ...rule, resources: ['deployments'] }] },
      validations: [{ expression: 'false', message: 'no Deployments today' }],
    },
  });
  await apply(stand.cluster, {
    apiVersion: version,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  const failed = await until('the policy is in force', WAIT_MS, async () => {
    const said = await stand.helm.tried(['install', RELEASE, CHART], ONE);
    if (said.code !== 0) return said;
    await stand.helm(['uninstall', RELEASE]);
    return undefined;
  });
  assert.match(failed.stderr, /no Deployments today/);
  for (const kind of ['validatingadmissionpolicybinding', 'validatingadmissionpolicy'])
    await stand.cluster.kubectl(['delete', kind, name]);
  await until('the policy is gone', WAIT_MS, async () => {
    return (await stand.helm.tried(['upgrade', '--install', RELEASE, CHART], ONE)).code === 0;
  });
  assert.equal((await stand.all('deployments')).length, 6);
  await stand.helm(['uninstall', RELEASE]);
  await until('no component is left', WAIT_MS, async () => {
    return (await stand.all('deployments')).length === 0;
  });
});

test('what kustomize installed is adopted, in place', async () => {
  // An earlier release left it, with Helm's labels.
  await stand.cluster.kubectl(['delete', 'clustersigner', 'serving', '--ignore-not-found']);
  await until('everything is applied', WAIT_MS, async () => {
    return (await stand.cluster.kubectl(['apply', '-k', ROOT], { allowFailure: true })).code === 0;
  });
  const examples = ['workload', 'serving'].map((each) =>
    join(ROOT, `deploy/examples/${each}.yaml`),
  );
  await stand.cluster.kubectl(['apply', ...examples.flatMap((each) => ['-f', each])]);
  const uids = async (): Promise<unknown> =>
    (await stand.all(`${KINDS},clustersigners`)).map(({ kind, metadata }) => [
      kind,
      metadata.name,
      (metadata as { uid?: string }).uid,
    ]);
  const before_ = await uids();
  const refused = await stand.helm.tried(['install', RELEASE, CHART], ONE);
  assert.match(refused.stderr, /exists and cannot be imported into the current release/);
  await stand.install(ONE, '--take-ownership', '--force-conflicts');
  assert.deepEqual(await uids(), before_);
  // The demo's second signer was in the roles by kustomize, and is not in the values: its right
  // goes when the values of every pod are known. The first upgrade notes them.
  await stand.install(ONE, '--force-conflicts');
  await stand.rolledOut();
  await stand.install(ONE, '--force-conflicts');
  assert.deepEqual(await uids(), before_);
  assert.deepEqual(await namesOf(stand, 'signer'), ['example.com/workload']);
  // deploy/ has the ports of each component, and the chart those of components that run.
  const deployments = await stand.all('deployments');
  const running = new Set(deployments.map(({ metadata }) => metadata.labels?.[COMPONENT_LABEL]));
  const left = (await stand.all(KINDS)).filter(
    ({ metadata }) => metadata.annotations?.['meta.helm.sh/release-name'] !== RELEASE,
  );
  const unexpected = left.filter(
    ({ kind, metadata }) =>
      !['Service', 'Secret'].includes(kind) || running.has(metadata.labels?.[COMPONENT_LABEL]),
  );
  assert.deepEqual(
    unexpected.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [],
  );
  const serving = await stand.get('clustersigner', 'serving');
  assert.equal(serving?.metadata.labels?.['app.kubernetes.io/managed-by'], undefined);
  // kubectl stays a co-owner of each field until the chart changes it.
  await stand.install({ ...ONE, image: { tag: NEXT_TAG } }, '--force-conflicts');
});
