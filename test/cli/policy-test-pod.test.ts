// SPDX-License-Identifier: Apache-2.0
/** `countersign policy test --pod`: whom a pod's leaf would name, without a cluster. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { clusterSigner, workloadSpec } from '../support/signers/cluster-signer.ts';

const directory = mkdtempSync(join(tmpdir(), 'policy-test-pod-'));
after(() => rmSync(directory, { recursive: true }));

function file(name: string, ...objects: readonly object[]): string {
  const path = join(directory, name);
  writeFileSync(path, objects.map((each) => stringify(each)).join('---\n'));
  return path;
}

const pods = { allow: 'pod.serviceAccount == "web"', services: {} };
const signer = file('signer.yaml', clusterSigner({ ...workloadSpec(), pods }));
const podCertificate = { signerName: 'example.com/workload', keyType: 'ED25519' };
const spec = {
  serviceAccountName: 'web',
  volumes: [{ name: 'tls', projected: { sources: [{ podCertificate }] } }],
};
const labels = { app: 'web' };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
};
const service = (name: string, more: object = {}, namespace = 'shop'): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { selector: labels, ...more },
});

const run = (pod: string, ...more: readonly string[]): Promise<CommandResult> =>
  countersign(['policy', 'test', '--signer-file', signer, '--pod', pod, ...more]);

test('lists all Services of the file that select the Deployment’s pods, and no other', async () => {
  const services = [
    service('web'),
    service('api'),
    service('other', { selector: { app: 'db' } }),
    service('web', {}, 'elsewhere'),
  ];
  const { code, stdout } = await run(file('two.yaml', ...services, deployment));
  const names = ['api', 'web'].flatMap((name) => [
    `  DNS ${name}.shop.svc\n`,
    `  DNS ${name}.shop.svc.cluster.local\n`,
  ]);
  assert.equal(stdout, `APPROVE\n${names.join('')}`);
  assert.equal(code, 0);
});

test('the first pod of a StatefulSet has its own name below the headless Service', async () => {
  const headless = service('db', { clusterIP: 'None' });
  const set = {
    ...deployment,
    kind: 'StatefulSet',
    spec: { ...deployment.spec, serviceName: 'db' },
  };
  const { stdout } = await run(file('set.yaml', headless, set));
  assert.match(stdout, /^APPROVE\n[^]* {2}DNS web-0\.db\.shop\.svc\n/);
});

test('a pod that no Service selects would wait, with the reason of its Event', async () => {
  const { code, stdout } = await run(file('none.yaml', deployment));
  assert.match(stdout, /^NO OPINION\n {2}ServiceDoesNotSelectPod: no Service of namespace shop/);
  assert.equal(code, 4);
});

test('a pod that spec.pods.allow does not allow is denied', async () => {
  const other = { ...spec, serviceAccountName: 'db' };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', labels },
    spec: other,
  };
  const { code, stdout } = await run(
    file('denied.yaml', service('web'), pod),
    '--namespace',
    'shop',
  );
  assert.match(stdout, /^DENY\n {2}NotAllowed: /);
  assert.equal(code, 3);
});

test('a pod without a volume of the signer gets nothing from it', async () => {
  const bare = { ...deployment, spec: { template: { metadata: { labels }, spec: {} } } };
  const { code, stdout } = await run(file('bare.yaml', bare));
  assert.match(stdout, /^NO OPINION\n {2}the pod has no volume with a podCertificate/);
  assert.equal(code, 4);
});

test('a file without a pod is refused', async () => {
  const { code, stderr } = await run(file('empty.yaml', service('web')));
  assert.match(stderr, /empty\.yaml: there is neither a Pod nor a workload/);
  assert.equal(code, 1);
});

test('the example of the how-to says what the how-to says', async () => {
  const at = join(import.meta.dirname, '../../examples/serving');
  const { stdout } = await countersign([
    'policy',
    'test',
    '--signer-file',
    join(at, 'signer.yaml'),
    '--pod',
    join(at, 'web.yaml'),
  ]);
  const page = join(import.meta.dirname, '../../docs/how-to/serve-under-service-names.md');
  assert.ok(readFileSync(page, 'utf8').includes(stdout), stdout);
});
