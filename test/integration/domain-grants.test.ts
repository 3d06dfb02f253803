// SPDX-License-Identifier: Apache-2.0
/** Components whose ClusterRoles name domains alone: `resourceNames: example.com/*`. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { installAcme } from '../support/acme/installation.ts';
import { acmeClusterSigner } from '../support/acme/signer.ts';
import { apply } from '../support/cluster/apply.ts';
import { refusedCalls } from '../support/cluster/audit.ts';
import { COMPONENTS, startComponent } from '../support/cluster/component-process.ts';
import { applySigner, example, waitForReady } from '../support/cluster/fixture.ts';
import {
  applyManifests,
  componentKubeconfig,
  grantClientCa,
  startComponents,
  type Installation,
} from '../support/cluster/installation.ts';
import { createPod, createTeam } from '../support/cluster/pods.ts';
import { allowRequesters, createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { waitForRequest } from '../support/cluster/requests/pod-certificate-request.ts';
import { replace } from '../support/cluster/roles.ts';

const WAIT_MS = 120_000;
/** Components whose ClusterRoles name signers of certificates.k8s.io. */
const NAMING = ['approver', 'signer', 'pcr-issuer', 'attester'] as const;
const DOMAINS = ['example.com/*', 'countersign.dev/*'];
/** What Kubernetes takes for no signer name of these domains. */
const NO_DOMAINS = ['*/*', '*.com/*', '*.dev/*', 'example.com/work*', 'example.com/p*', '*'];

type Role = Parameters<typeof replace>[1];

let cluster: Cluster;
let installation: Installation | undefined;
before(async () => {
  cluster = await startCluster({ version: '1.37' });
  await applyManifests(cluster);
  await allowRequesters(cluster);
  await createTeam(cluster, 'team-a', ['web']);
  await nameSigners(NAMING, DOMAINS);
  installation = await startComponents(cluster);
});
after(async () => {
  await installation?.stop();
  await cluster.stop();
});

/** Has the ClusterRoles of the components name these in place of every signer. */
async function nameSigners(
  components: readonly string[],
  resourceNames: readonly string[],
): Promise<void> {
  for (const component of components) {
    const get = ['get', 'clusterrole', `countersign-${component}`, '-o', 'json'];
    const live = JSON.parse((await cluster.kubectl(get)).stdout) as Role;
    const isOnSigners = (rule: NonNullable<Role['rules']>[number]): boolean =>
      rule.resources.includes('signers') && rule.apiGroups.includes('certificates.k8s.io');
    const { rules: before = [] } = live;
    assert.ok(before.some(isOnSigners));
    const rules = before.map((rule) => (isOnSigners(rule) ? { ...rule, resourceNames } : rule));
    const metadata = { ...live.metadata, resourceVersion: undefined };
    await replace(cluster, { ...live, metadata, rules });
  }
}

function started(): Installation {
  assert.ok(installation !== undefined);
  return installation;
}

test('each becomes ready and does its work, and no call is refused', async () => {
  await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
  for (const name of ['workload', 'people']) await applySigner(cluster, example(name));
  for (const name of ['workload', 'people']) await waitForReady(cluster, name, 'Checked');
  await Promise.all(COMPONENTS.map((name) => started().components[name].ready(WAIT_MS)));
  await createPod(cluster, {
    namespace: 'team-a',
    name: 'wild',
    serviceAccount: 'web',
    node: 'node-1',
    signerName: 'example.com/workload',
    keyType: 'ED25519',
  });
  const csr = await createCsr(cluster);
  const request = await waitForRequest(cluster, 'team-a', 'wild', 'Issued');
  assert.ok(new X509Certificate(request.status?.certificateChain ?? ''));
  await waitForCertificate(cluster, csr);
  const bundle = ['get', 'clustertrustbundle', 'example.com:workload:primary'];
  assert.equal((await cluster.kubectl(bundle)).code, 0);
  assert.deepEqual(await refusedCalls(cluster), []);
});

test('other patterns authorize nothing: each component names the right that it lacks', async () => {
  await nameSigners(NAMING, NO_DOMAINS);
  for (const component of NAMING) {
    await until(`${component} lacks its right`, WAIT_MS, async () => {
      const { status, text } = await started().components[component].readyz();
      return status === 503 && /certificates\.k8s\.io\/signers "example\.com\/[a-z]+"/.test(text);
    });
  }
  await nameSigners(NAMING, DOMAINS);
  await Promise.all(NAMING.map((name) => started().components[name].ready(WAIT_MS)));
});

test('acme, too, has its right by the domain, and by no other pattern', async () => {
  await installAcme(cluster, { components: ['acme'] });
  const server = { directory: 'https://127.0.0.1:1/directory', ca: '' };
  const solvers = [{ name: 'http', http01: {} }];
  await apply(cluster, acmeClusterSigner({ server, solvers, acme: { caBundle: undefined } }));
  await nameSigners(['acme'], DOMAINS);
  const kubeconfig = await componentKubeconfig(cluster, 'acme');
  const acme = await startComponent({ name: 'acme', kubeconfig });
  const lacks = /lacks: sign certificates\.k8s\.io\/signers/;
  try {
    await until('its permissions are checked', WAIT_MS, async () => {
      const { text } = await acme.readyz();
      return !/permissions are not checked yet|is not synchronized/.test(text);
    });
    assert.doesNotMatch((await acme.readyz()).text, lacks);
    await nameSigners(['acme'], NO_DOMAINS);
    await until('acme lacks its right', WAIT_MS, async () =>
      lacks.test((await acme.readyz()).text),
    );
  } finally {
    await acme.stop();
  }
});
