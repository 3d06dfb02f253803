// SPDX-License-Identifier: Apache-2.0
/** The components compare the admission policies that guard them with what is printed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { admissionDifferences, type LiveAdmission } from '#install/admission/compare.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';
import { startComponent } from '../support/cluster/component-process.ts';
import { SYSTEM_NAMESPACE } from '../support/cluster/installation.ts';
import { printedAdmission } from '../support/install/printed-admission.ts';

const root = join(import.meta.dirname, '../..');
const SOON = 120_000;
const FILES = [
  'namespaces.yaml',
  'crds',
  ...[
    'acme',
    'cluster-signers',
    'components',
    'external',
    'certificate-requests',
    'leases',
    'pod-certificate-requests',
    'refreshed',
    'revocations',
  ].map((each) => `admission/${each}.yaml`),
];

let cluster: Cluster;
before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  for (const file of FILES) await cluster.kubectl(['apply', '-f', join(root, 'deploy', file)]);
  await cluster.kubectl(['apply', '-f', join(root, 'rbac')]);
  await established(cluster, 'crd/clustersigners.countersign.dev');
});
after(() => cluster.stop());

async function get(kind: string, name: string): Promise<NonNullable<LiveAdmission['policy']>> {
  const { stdout } = await cluster.kubectl(['get', kind, name, '-o', 'json']);
  return JSON.parse(stdout) as NonNullable<LiveAdmission['policy']>;
}

test('what is printed does not differ after the API server has stored it', async () => {
  for (const name of printedAdmission().keys()) {
    const live = {
      policy: await get('validatingadmissionpolicy', name),
      binding: await get('validatingadmissionpolicybinding', name),
    };
    const secretNamespace = 'countersign-keys';
    const context = { namespace: DEMO.namespace, secretNamespace, signerNames: DEMO.signers };
    assert.deepEqual(admissionDifferences(name, live, context), []);
  }
});

test('a component whose policy guards nothing warns of the difference and is ready', async () => {
  const validations = [{ expression: 'true' }];
  const patch = JSON.stringify({ spec: { validations } });
  const policy = ['validatingadmissionpolicy', 'countersign-cluster-signer-status'];
  await cluster.kubectl(['patch', ...policy, '--type=merge', '-p', patch]);
  const kubeconfig = await cluster.serviceAccountKubeconfig(
    SYSTEM_NAMESPACE,
    'countersign-attester',
  );
  const attester = await startComponent({ name: 'attester', kubeconfig });
  try {
    await until('it warns', SOON, async () => {
      const { status, text } = await attester.readyz();
      return status === 200 && /warning: .*signer-status: spec\.validations\[0\]/.test(text);
    });
    const { text } = await attester.readyz();
    // It differs in this alone, and in what a validation has besides its expression.
    for (const line of text.split('\n').filter((each) => each.includes('AdmissionPolicy'))) {
      assert.match(line, /countersign-cluster-signer-status: spec\.validations\[0\]\./);
    }
    assert.match(
      await attester.metrics(),
      /admission_policy_differences\{policy="countersign-cluster-signer-status".*\} [1-9]/,
    );
    await until('an Event says so', SOON, async () => {
      const select = ['--field-selector', 'reason=AdmissionPolicyDiffers'];
      const path = 'jsonpath={.items[*].note}';
      const { stdout } = await cluster.kubectl([
        'get',
        'events.events.k8s.io',
        '-n',
        'default',
        ...select,
        '-o',
        path,
      ]);
      return stdout.includes('countersign-cluster-signer-status: spec.validations[0]');
    });
  } finally {
    await attester.stop();
  }
});
