// SPDX-License-Identifier: Apache-2.0
/** What injection gives to a Deployment as a chart writes it, in pods that run. */
import assert from 'node:assert/strict';
import { X509Certificate, verify } from 'node:crypto';
import { join } from 'node:path';
import { INJECT } from '#install/admission/injection/profiles.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { Openssl } from '../oracle/openssl.ts';
import { apply } from '../support/cluster/apply.ts';
import { NODE } from './shipped.ts';

const SHIPPED = join(import.meta.dirname, '../../deploy/admission/injection.yaml');
/** The first opted in. */
const IN = 'team-injected';
const OUT = 'team-plain';
const WAIT_MS = 180_000;
const CHALLENGE = 'sign this';
/** Each finds its files by nothing but its environment. */
const CONTAINERS = ['migrate', 'log', 'app', 'proxy'];

/**
 * Prints what it was given, at its start and whenever it changes; the key itself stays in the pod.
 */
const TELLS = `const { createPrivateKey, sign } = require('node:crypto');
  const { readFileSync } = require('node:fs');
  const { COUNTERSIGN_WORKLOAD_CREDENTIALS, COUNTERSIGN_WORKLOAD_TRUST_BUNDLE } = process.env;
  let last;
  function look() {
    if (COUNTERSIGN_WORKLOAD_CREDENTIALS === undefined) return console.log('{}');
    const pem = readFileSync(COUNTERSIGN_WORKLOAD_CREDENTIALS, 'utf8');
    if (pem === last) return;
    last = pem;
    const signature = sign('sha256', Buffer.from('${CHALLENGE}'), createPrivateKey(pem)).toString('base64');
    const chain = pem.slice(pem.indexOf('-----BEGIN CERTIFICATE-----'));
    console.log(JSON.stringify({ chain, signature, anchors: readFileSync(COUNTERSIGN_WORKLOAD_TRUST_BUNDLE, 'utf8') }));
  }
  look();`;
const AND_STAYS = `setInterval(look, 200); process.on('SIGTERM', () => process.exit(0));`;

/** What a container found. */
interface Told {
  /** Absent: no variable names a file. */
  readonly chain?: string;
  /** Of the challenge, in base64. */
  readonly signature?: string;
  readonly anchors?: string;
}

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly volumes?: readonly { readonly name: string }[] };
  readonly status: {
    readonly containerStatuses?: readonly { readonly ready: boolean; restartCount: number }[];
  };
}

/** A Deployment that knows nothing of certificates but one annotation of its pods. */
function stock(namespace: string): object {
  const runs = (name: string, script: string, more: object = {}): object => ({
    name,
    image: NODE,
    args: ['-e', script],
    ...more,
    securityContext: { readOnlyRootFilesystem: true },
  });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'stock' },
    spec: {
      selector: { matchLabels: { app: 'stock' } },
      template: {
        metadata: { labels: { app: 'stock' }, annotations: { [INJECT]: 'workload' } },
        spec: {
          securityContext: { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532 },
          initContainers: [
            runs('migrate', TELLS),
            runs('log', TELLS + AND_STAYS, { restartPolicy: 'Always' }),
          ],
          containers: [runs('app', TELLS + AND_STAYS), runs('proxy', TELLS + AND_STAYS)],
        },
      },
    },
  };
}

/**
 * The stock Deployment in a namespace that opted in and in one that did not, by the policies as
 * shipped.
 */
export async function injected(cluster: Cluster, tell: (line: string) => void): Promise<void> {
  await cluster.kubectl(['apply', '-f', SHIPPED]);
  const namespace = { apiVersion: 'v1', kind: 'Namespace' };
  await apply(
    cluster,
    { ...namespace, metadata: { name: IN, labels: { [INJECT]: 'enabled' } } },
    { ...namespace, metadata: { name: OUT } },
  );
  await untilInForce(cluster);
  const started = Date.now();
  await apply(cluster, stock(IN), stock(OUT));
  await leftAlone(cluster);
  const before = await running(cluster, IN);
  tell(`an injected pod runs ${(Date.now() - started) / 1000} s after its Deployment was made`);
  for (const name of CONTAINERS) {
    const [first] = await toldBy(cluster, IN, before, name);
    await judged(cluster, first);
  }
  await renewed(cluster, before);
}

async function untilInForce(cluster: Cluster): Promise<void> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: IN, name: 'probe', annotations: { [INJECT]: 'workload' } },
    spec: { containers: [{ name: 'a', image: NODE }] },
  };
  const names = 'jsonpath={.spec.volumes[*].name}';
  const args = ['create', '-f', '-', '--dry-run=server', '-o', names];
  await until('pods are injected', WAIT_MS, async () => {
    // Until the mutation is in force the other policies refuse the pod.
    const { stdout } = await cluster.kubectl(args, {
      input: JSON.stringify(pod),
      allowFailure: true,
    });
    return stdout.split(' ').includes('countersign-workload');
  });
}

/** The pod of the stock Deployment, whose containers are all ready. */
function running(cluster: Cluster, namespace: string): Promise<Pod> {
  return until(`the pod of ${namespace} runs`, WAIT_MS, async () => {
    const args = ['get', 'pods', '-n', namespace, '-l', 'app=stock', '-o', 'json'];
    const [pod] = (JSON.parse((await cluster.kubectl(args)).stdout) as { items: Pod[] }).items;
    const states = pod?.status.containerStatuses ?? [];
    return states.length === 2 && states.every(({ ready }) => ready) && pod;
  });
}

async function toldBy(
  cluster: Cluster,
  namespace: string,
  { metadata }: Pod,
  container: string,
): Promise<readonly Told[]> {
  const args = ['logs', '-n', namespace, metadata.name, '-c', container];
  const lines = await until(`${container} of ${namespace} tells`, WAIT_MS, async () => {
    const { stdout } = await cluster.kubectl(args);
    return stdout.trim() !== '' && stdout.trim().split('\n');
  });
  return lines.map((line) => JSON.parse(line) as Told);
}

/** The annotation alone gives nothing. */
async function leftAlone(cluster: Cluster): Promise<void> {
  const pod = await running(cluster, OUT);
  const names = (pod.spec.volumes ?? []).map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => !name.startsWith('kube-api-access-')),
    [],
  );
  for (const name of CONTAINERS) {
    const [first] = await toldBy(cluster, OUT, pod, name);
    assert.deepEqual(first, {}, name);
  }
}

/**
 * The identity is that of the pod's ServiceAccount; OpenSSL accepts it by the bundle that the
 * cluster publishes.
 */
async function judged(cluster: Cluster, told: Told | undefined): Promise<X509Certificate> {
  const { chain = '', signature = '', anchors = '' } = told ?? {};
  const leaf = new X509Certificate(chain);
  assert.equal(leaf.subjectAltName, `URI:spiffe://cluster.local/ns/${IN}/sa/default`);
  const signed = Buffer.from(signature, 'base64');
  const isManaged = verify('sha256', Buffer.from(CHALLENGE), leaf.publicKey, signed);
  assert.ok(isManaged, 'the key is that of the leaf');
  const path = 'jsonpath={.spec.trustBundle}';
  const read = ['get', 'clustertrustbundle', 'example.com:workload:primary', '-o', path];
  const { stdout: published } = await cluster.kubectl(read);
  assert.deepEqual([...anchorFingerprints(anchors)], [...anchorFingerprints(published)]);
  const [first, ...intermediates] = decodePemAll(chain, 'CERTIFICATE');
  const roots = decodePemAll(published, 'CERTIFICATE');
  assert.ok(first !== undefined);
  using openssl = new Openssl();
  const parts = { leaf: first, intermediates, roots, now: Date.now() };
  assert.ok(await openssl.acceptsChain(parts), 'OpenSSL accepts the chain');
  return leaf;
}

/**
 * A kubelet that is started again asks for every credential again, as it does when `beginRefreshAt`
 * has come: the files of a pod that runs are replaced, in each container that still runs.
 */
async function renewed(cluster: Cluster, before: Pod): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.restart()));
  for (const name of CONTAINERS.filter((each) => each !== 'migrate')) {
    const [first, next] = await until(`${name} sees other files`, WAIT_MS, async () => {
      const all = await toldBy(cluster, IN, before, name);
      return all.length > 1 && all;
    });
    const [old, renewal] = [await judged(cluster, first), await judged(cluster, next)];
    assert.notEqual(renewal.serialNumber, old.serialNumber);
  }
  const after = await running(cluster, IN);
  assert.equal(after.metadata.uid, before.metadata.uid);
  for (const { restartCount } of after.status.containerStatuses ?? [])
    assert.equal(restartCount, 0, 'the pod ran on');
}
