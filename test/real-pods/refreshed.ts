// SPDX-License-Identifier: Apache-2.0
/**
 * What pod-refresher does to pods that run: a Secret that cert-manager renews, and a credential
 * whose renewal is denied.
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { applyCrds } from '../certmanager/crds.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { Stand as Certificates, administrator } from '../integration/pod-refresher/stand.ts';
import { apply } from '../support/cluster/apply.ts';
import { bringTo, grantOperator } from './operated.ts';
import { NODE } from './shipped.ts';

const TEAM = 'team-refreshed';
const WAIT_MS = 180_000;

/** As docs/how-to/operator.md says it: the roles, then the object. */
export async function enableRefresher(cluster: Cluster): Promise<void> {
  await applyCrds(cluster);
  const components = { 'pod-refresher': { enabled: true, extraArgs: ['--debounce=1s'] } };
  await grantOperator(cluster, { components });
  await bringTo(cluster, { components });
}

/** The namespace that opted in. */
function openTeam(cluster: Cluster): Promise<unknown> {
  const labels = { 'countersign.dev/refresh': 'enabled' };
  return apply(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM, labels } });
}

/** Two Deployments whose Secrets are renewed one after the other: each is rolled out once. */
export async function restartsOnce(cluster: Cluster): Promise<void> {
  const client = await administrator(cluster);
  const certificates = new Certificates(client);
  await openTeam(cluster);
  for (const name of ['web', 'api']) {
    await certificates.certificate(TEAM, name);
    await apply(cluster, readerOf(name));
    await rolledOut(cluster, name);
    const cert = await certificates.issue(TEAM, name, 2);
    await until(`${name} is restarted`, WAIT_MS, async () => (await generation(cluster, name)) > 1);
    await rolledOut(cluster, name);
    const wanted = new X509Certificate(cert).fingerprint256;
    await until(`${name} has the new certificate`, WAIT_MS, async () => {
      const { stdout } = await cluster.kubectl(['logs', ...IN_TEAM, '-l', `app=${name}`]);
      return stdout.trim() === wanted;
    });
  }
  // The second was looked at after the first, again and again.
  for (const name of ['web', 'api']) assert.equal(await generation(cluster, name), 2, name);
  await client.close();
}

/**
 * A kubelet asks for the first credential of a pod before that; what comes later is a renewal
 * (src/workloads/refresh).
 */
const FIRST_REQUEST_MS = 5 * 60_000;

/**
 * The kubelets are started again, so that each asks for another credential, six minutes after the
 * pods: the Deployment that cannot read files again is rolled out, once, and the one that can is
 * not.
 */
export async function restartsForCredentials(cluster: Cluster): Promise<void> {
  await openTeam(cluster);
  await apply(cluster, credentialOf('cannot', 'restart'), credentialOf('can', 'secrets'));
  for (const name of ['cannot', 'can']) await rolledOut(cluster, name);
  const [before] = await podsNamed(cluster, 'cannot');
  assert.ok(before);
  const old = Date.now() + FIRST_REQUEST_MS + 60_000;
  await until('a renewal is told from a first request', 2 * FIRST_REQUEST_MS, () =>
    Promise.resolve(Date.now() > old),
  );
  await Promise.all(cluster.nodes.map((node) => node.restart()));
  await until('it is restarted', WAIT_MS, async () => (await generation(cluster, 'cannot')) > 1);
  await rolledOut(cluster, 'cannot');
  await until('its first pod is gone', WAIT_MS, async () =>
    (await podsNamed(cluster, 'cannot')).every(
      ({ metadata }) => metadata.uid !== before.metadata.uid,
    ),
  );
}

/** After others were restarted: each pass looks at all. */
export async function stayedRestartedOnce(cluster: Cluster): Promise<void> {
  assert.equal(await generation(cluster, 'cannot'), 2, 'it is restarted once');
  assert.equal(await generation(cluster, 'can'), 1, 'it reads its files again');
}

/** Its kubelet is started again, so that it asks again; the signer denies that. */
export async function evictsInTime(cluster: Cluster): Promise<void> {
  const name = 'guarded';
  await apply(cluster, credentialOf(name), budgetOf(name, 0));
  await rolledOut(cluster, name);
  const [pod] = await podsNamed(cluster, name);
  assert.ok(pod);
  const patch = JSON.stringify({ spec: { pods: { allow: 'false' } } });
  await cluster.kubectl(['patch', 'clustersigner', 'workload', '--type=merge', '-p', patch]);
  await until('the signer goes by that', WAIT_MS, async () => {
    const args = ['get', 'clustersigner', 'workload', '-o', 'json'];
    const { metadata, status } = JSON.parse((await cluster.kubectl(args)).stdout) as SignerStatus;
    return status.observedGeneration === metadata.generation;
  });
  await Promise.all(cluster.nodes.map((node) => node.restart()));
  await until('a renewal is denied', WAIT_MS, () => isDenied(cluster, pod.metadata.uid));
  await until('an eviction was asked for, and refused', WAIT_MS, async () =>
    (await cluster.readAudit()).some(
      ({ objectRef, responseStatus }) =>
        objectRef?.subresource === 'eviction' &&
        objectRef.name === pod.metadata.name &&
        responseStatus?.code === 429,
    ),
  );
  assert.deepEqual((await podsNamed(cluster, name))[0]?.metadata.uid, pod.metadata.uid);
  await apply(cluster, budgetOf(name, 1));
  await until('it is evicted', WAIT_MS, async () =>
    (await podsNamed(cluster, name)).every(({ metadata }) => metadata.uid !== pod.metadata.uid),
  );
  const events = ['get', 'events', ...IN_TEAM, '--field-selector', 'reason=CredentialExpiring'];
  await until('an Event says why', WAIT_MS, async () =>
    (await cluster.kubectl([...events, '-o', 'json'])).stdout.includes(pod.metadata.name),
  );
}

const IN_TEAM = ['-n', TEAM] as const;

interface SignerStatus {
  readonly metadata: { readonly generation: number };
  readonly status: { readonly observedGeneration?: number };
}

interface Named {
  readonly metadata: { readonly name: string; readonly uid: string };
}

async function podsNamed(cluster: Cluster, app: string): Promise<readonly Named[]> {
  const { stdout } = await cluster.kubectl([
    'get',
    'pods',
    ...IN_TEAM,
    '-l',
    `app=${app}`,
    '-o',
    'json',
  ]);
  return (JSON.parse(stdout) as { items: readonly Named[] }).items;
}

async function isDenied(cluster: Cluster, podUID: string): Promise<boolean> {
  const { stdout } = await cluster.kubectl([
    'get',
    'podcertificaterequests',
    ...IN_TEAM,
    '-o',
    'json',
  ]);
  const { items } = JSON.parse(stdout) as { items: readonly PodCertificateRequest[] };
  return items.some(
    ({ spec, status }) =>
      spec.podUID === podUID && status?.conditions?.some(({ type }) => type === 'Denied') === true,
  );
}

async function generation(cluster: Cluster, name: string): Promise<number> {
  const path = 'jsonpath={.metadata.generation}';
  return Number(
    (await cluster.kubectl(['get', 'deployment', name, ...IN_TEAM, '-o', path])).stdout,
  );
}

async function rolledOut(cluster: Cluster, name: string): Promise<void> {
  const timeout = `--timeout=${WAIT_MS / 1000}s`;
  await cluster.kubectl(['rollout', 'status', ...IN_TEAM, timeout, `deployment/${name}`]);
}

/** Prints the fingerprint of the certificate that it finds when it starts. */
const PRINT = `const { X509Certificate } = require('node:crypto');
  console.log(new X509Certificate(require('node:fs').readFileSync('/run/tls/tls.crt')).fingerprint256);
  setInterval(() => undefined, 1e6)`;

function readerOf(name: string): object {
  const volume = { name: 'tls', secret: { secretName: name } };
  return deploymentOf(name, PRINT, volume, { refresh: 'secrets' });
}

function credentialOf(name: string, refresh?: string): object {
  const podCertificate = {
    signerName: 'example.com/workload',
    keyType: 'ED25519',
    credentialBundlePath: 'credentials.pem',
    maxExpirationSeconds: 3600,
  };
  const volume = { name: 'tls', projected: { sources: [{ podCertificate }] } };
  // It ends in an hour, which is sooner than that.
  const annotations = { 'countersign.dev/evict-before-expiry': '2h' };
  return deploymentOf(name, 'setInterval(() => undefined, 1e6)', volume, {
    annotations,
    ...(refresh === undefined ? {} : { refresh }),
  });
}

function deploymentOf(
  name: string,
  script: string,
  volume: { readonly name: string },
  { refresh, annotations = {} }: { refresh?: string; annotations?: object },
): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: TEAM,
      name,
      ...(refresh === undefined ? {} : { annotations: { 'countersign.dev/refresh': refresh } }),
    },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: {
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 0,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532 },
          containers: [
            {
              name: 'main',
              image: NODE,
              args: ['-e', script],
              volumeMounts: [{ name: volume.name, mountPath: '/run/tls', readOnly: true }],
            },
          ],
          volumes: [volume],
        },
      },
    },
  };
}

function budgetOf(name: string, maxUnavailable: number): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: TEAM, name },
    spec: { maxUnavailable, selector: { matchLabels: { app: name } } },
  };
}
