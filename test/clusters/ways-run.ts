// SPDX-License-Identifier: Apache-2.0
/** Each way to install, on each kind of cluster: installed, Ready, used, removed. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Cluster } from '../cluster/cluster.ts';
import { Hopeless, until } from '../cluster/until.ts';
import { SYSTEM } from '../helm/stand.ts';
import { NODE, isReady, podsOf } from '../real-pods/shipped.ts';
import { create } from '../real-pods/stand.ts';
import { EVERY_COMPONENT } from '../support/cluster/component-process.ts';
import { apply } from '../support/cluster/apply.ts';
import { example, waitForReady } from '../support/cluster/fixture.ts';
import { createCsr, waitForCertificate } from '../support/cluster/requests/csr.ts';
import { KINDS, SKIP, openStand, type Kind, type KindName, type Stand } from './stand.ts';
import { WAYS, removeForGood, type Way, type WayName } from './ways.ts';

const WAIT_MS = 600_000;
const SIGNER = 'example.com/workload';
const TEAM = 'team-a';

/** One pod of each is enough here, and starts sooner. */
const ONE_OF_EACH = Object.fromEntries(EVERY_COMPONENT.map((each) => [each, { replicas: 1 }]));

const RBAC = 'rbac.authorization.k8s.io';
/** The ClusterRole comes with each installation. */
const REQUESTERS = {
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'dev-csr' },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'countersign-csr-requester' },
  subjects: [{ apiGroup: RBAC, kind: 'Group', name: 'dev' }],
};

const kinds = Object.entries(KINDS) as readonly (readonly [KindName, Kind])[];
for (const [name, kind] of kinds)
  describe(name, { skip: SKIP }, () => {
    let stand: Stand;
    before(async () => {
      stand = await openStand(name);
      await stand.cluster.kubectl(['create', 'namespace', TEAM]);
      await apply(stand.cluster, REQUESTERS);
    });
    after(() => stand.remove());

    for (const way of kind.ways ?? (Object.keys(WAYS) as WayName[])) {
      const { install, uninstall }: Way = WAYS[way];
      test(`${name}: ${way} leads to certificates, and to nothing again`, async () => {
        const { cluster } = stand;
        await install(cluster, {
          ...kind.values,
          signers: [{ name: SIGNER }],
          components: { ...ONE_OF_EACH, ...kind.values?.components },
        });
        await allReady(cluster, kind);
        await kind.verify?.(cluster, await podsOf(cluster));
        await serve(cluster);
        await issueToPerson(cluster);
        await issueToPod(cluster, `asks-${Object.keys(WAYS).indexOf(way)}`);
        await kind.verifyUsed?.(cluster);
        await uninstall(cluster);
        await until('no pod is left', WAIT_MS, async () => (await podsOf(cluster)).length === 0);
        await removeForGood(cluster);
      });
    }

    for (const [law, verify] of Object.entries(kind.tests ?? {}))
      test(`${name}: ${law}`, () => verify(stand.cluster));
  });

interface Deployment {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly readyReplicas?: number };
}

/** Resolves when each Deployment has its pods Ready, by the probes of a kubelet. */
async function allReady(cluster: Cluster, { faultOf }: Kind): Promise<void> {
  await until('every pod is Ready', WAIT_MS, async () => {
    const { stdout } = await cluster.kubectl(['get', 'deployments', '-n', SYSTEM, '-o', 'json']);
    const { items } = JSON.parse(stdout) as { readonly items: readonly Deployment[] };
    const wanted = items.reduce((sum, { spec }) => sum + spec.replicas, 0);
    const pods = await podsOf(cluster);
    const fault = faultOf?.(pods);
    if (fault !== undefined) throw new Hopeless(fault);
    // The operator makes the six components of every installation one after another.
    const components = items.filter(
      ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] !== 'operator',
    );
    if (components.length >= 6 && pods.length === wanted && pods.every(isReady)) return true;
    const waiting = pods.filter((pod) => !isReady(pod)).map(({ metadata }) => metadata.name);
    throw new Error(`${components.length} components, not Ready: ${waiting.join(', ')}`);
  });
}

/** A ClusterSigner for pods of teams, and for people by CertificateSigningRequests. */
async function serve(cluster: Cluster): Promise<void> {
  const { requests } = example('people').spec;
  const signer = example('workload');
  await apply(cluster, { ...signer, spec: { ...signer.spec, requests } });
  await waitForReady(cluster, 'workload', 'Checked');
}

async function issueToPerson(cluster: Cluster): Promise<void> {
  const csr = await createCsr(cluster, { signerName: SIGNER });
  const [leaf = ''] = (await waitForCertificate(cluster, csr)).split(
    /(?<=-----END CERTIFICATE-----)/,
  );
  assert.match(new X509Certificate(leaf).subject, /CN=jane/);
}

const READ = `const { X509Certificate } = require('node:crypto');
  console.log(new X509Certificate(require('node:fs').readFileSync('/run/identity/credentials.pem')).subjectAltName);`;

/** A pod that cannot start without a certificate, which it reads. */
async function issueToPod(cluster: Cluster, name: string): Promise<void> {
  const podCertificate = {
    signerName: SIGNER,
    keyType: 'ED25519',
    credentialBundlePath: 'credentials.pem',
  };
  await create(cluster, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: TEAM, name },
    spec: {
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 },
      containers: [
        {
          name: 'main',
          image: NODE,
          args: ['-e', READ],
          volumeMounts: [{ name: 'identity', mountPath: '/run/identity' }],
        },
      ],
      volumes: [{ name: 'identity', projected: { sources: [{ podCertificate }] } }],
    },
  });
  await until(`${name} has read its certificate`, WAIT_MS, async () => {
    const args = ['get', 'pod', name, '-n', TEAM, '-o', 'jsonpath={.status.phase}'];
    return (await cluster.kubectl(args)).stdout === 'Succeeded';
  });
  const { stdout } = await cluster.kubectl(['logs', name, '-n', TEAM]);
  assert.equal(stdout, `URI:spiffe://cluster.local/ns/${TEAM}/sa/default\n`);
  await cluster.kubectl(['delete', 'pod', name, '-n', TEAM, '--wait=false']);
}
