// SPDX-License-Identifier: Apache-2.0
/**
 * examples/istio, applied as shipped: istiod's own code asks for certificates of workloads, with
 * its ServiceAccount's token.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { Hopeless, until } from '../cluster/until.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { countersign } from '../support/cluster/countersign.ts';
import { waitForReady } from '../support/cluster/fixture.ts';
import {
  applyManifests,
  startComponents,
  type Installation,
} from '../support/cluster/installation.ts';
import { buildIstiod } from './istio/build.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/istio/istio.yaml');
const ID = 'spiffe://cluster.local/ns/shop/sa/web';
const SIGNER = 'example.com/istio';
const SYSTEM = 'istio-system';
const WAIT_MS = 180_000;

/** A CertificateSigningRequest, so far as it is read here. */
interface Csr {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly message: string }[];
  };
}

let cluster: Cluster;
let installation: Installation | undefined;
let program: string;

before(async () => {
  program = await buildIstiod((line) => {
    console.error(line);
  });
  cluster = await startCluster({ nodes: 0 });
  await applyManifests(cluster);
  await apply(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SYSTEM } });
  for (const name of ['istiod', 'somebody']) await serviceAccount(name);
  await cluster.kubectl(['apply', '-f', EXAMPLE]);
  const from = ['rbac', '--kubeconfig', cluster.kubeconfig, '--from-cluster'];
  await applyText(cluster, (await countersign(from)).stdout);
  installation = await startComponents(cluster, {
    only: ['authority', 'attester', 'approver', 'signer'],
  });
  // istiod waits for a minute, then asks again.
  await waitForReady(cluster, 'istio', 'Checked');
});
after(async () => {
  await installation?.stop();
  await cluster.stop();
});

function serviceAccount(name: string): Promise<void> {
  const metadata = { namespace: SYSTEM, name };
  return apply(cluster, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
}

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What became of a request that istiod, or another ServiceAccount, made for a workload. */
async function asked(
  host: string,
  { as = 'istiod', flags = [] }: { readonly as?: string; readonly flags?: readonly string[] } = {},
  signal?: AbortSignal,
): Promise<Said> {
  const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM, as);
  const root = join(cluster.directory, 'root.pem');
  const path = 'jsonpath={.spec.trustBundle}';
  const read = ['get', 'clustertrustbundle', 'example.com:istio:primary', '-o', path];
  writeFileSync(root, (await cluster.kubectl(read)).stdout);
  const args = ['-kubeconfig', kubeconfig, '-signer', SIGNER, '-host', host, '-root', root];
  const env = { ...process.env, CONTROLPLANE_OWNER_PID: String(process.pid) };
  const options = signal === undefined ? { env } : { env, signal };
  return promisify(execFile)(program, [...args, ...flags], options).then(
    (said) => ({ code: 0, ...said }),
    (error: unknown) => error as Said,
  );
}

/** Asks again where our approver approved first: so does the proxy. */
function issued(flags: readonly string[]): Promise<X509Certificate> {
  return until('istiod has its certificate', WAIT_MS, async () => {
    const { code, stdout, stderr } = await asked(ID, { flags });
    if (code === 0) return new X509Certificate(stdout);
    const isOvertaken = /failed to approve CSR request: .*the object has been modified/;
    if (isOvertaken.test(stderr)) return undefined;
    throw new Hopeless(stderr);
  });
}

for (const [what, flags, type] of [
  ['RSA, the default', [], 'rsa'],
  ['ECDSA', ['-ecdsa'], 'ec'],
] as const) {
  test(`istiod has a certificate for a workload, which Istio verifies: ${what}`, async () => {
    const leaf = await issued(flags);
    assert.equal(leaf.subjectAltName, `URI:${ID}`);
    assert.equal(leaf.publicKey.asymmetricKeyType, type);
    // The empty organization that it asked with.
    assert.equal(leaf.subject, undefined);
  });
}

test('the lifetime that the workload asks for is that of its certificate', async () => {
  const { validFromDate, validToDate } = await issued(['-ecdsa', '-lifetime', '1h']);
  const hours = (validToDate.getTime() - validFromDate.getTime()) / 3_600_000;
  assert.ok(hours >= 1 && hours < 1.1, String(hours));
});

test('istiod deletes what it has read, and needs no list', async () => {
  await issued(['-ecdsa']);
  const { stdout } = await cluster.kubectl(['get', 'csr', '-o', 'name']);
  assert.equal(stdout, '');
});

test('our rule alone approves istiod’s requests of the SPIFFE shape', async () => {
  const { code, stdout, stderr } = await asked(ID, { flags: ['-ecdsa', '-approve=false'] });
  assert.equal(code, 0, stderr);
  assert.equal(new X509Certificate(stdout).subjectAltName, `URI:${ID}`);
});

const SHAPE = /a workload of the mesh has one SPIFFE ID/;

for (const [what, host, says] of [
  ['of another trust domain', 'spiffe://other.example/ns/shop/sa/web', SHAPE],
  ['for two workloads', `${ID},spiffe://cluster.local/ns/shop/sa/db`, SHAPE],
  [
    'for a DNS name',
    'web.shop.svc',
    /copies uris from a request, and this request has none of them/,
  ],
] as const) {
  test(`a request ${what} is denied where istiod has not approved it`, async () => {
    const end = new AbortController();
    const ended = asked(host, { flags: ['-ecdsa', '-approve=false'] }, end.signal);
    const message = await until('it is denied', WAIT_MS, async () => {
      const { stdout } = await cluster.kubectl(['get', 'csr', '-o', 'json']);
      const { items } = JSON.parse(stdout) as { readonly items: readonly Csr[] };
      const conditions = items.flatMap(({ status }) => status?.conditions ?? []);
      return conditions.find(({ type }) => type === 'Denied')?.message;
    });
    assert.match(message, says);
    // It would wait for a minute.
    end.abort();
    await ended;
    await cluster.kubectl(['delete', 'csr', '--all']);
  });
}

test('another ServiceAccount cannot ask, also with istiod’s own role', async () => {
  const name = 'somebody-countersign';
  await apply(cluster, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'istiod-countersign',
    },
    subjects: [{ kind: 'ServiceAccount', namespace: SYSTEM, name: 'somebody' }],
  });
  const refusal = await until('it is the policy that refuses it', WAIT_MS, async () => {
    const { stderr } = await asked(ID, { as: 'somebody', flags: ['-ecdsa'] });
    // RBAC learns of the binding a moment later.
    return stderr.includes('at the cluster scope') ? undefined : stderr;
  });
  assert.match(refusal, /only istiod asks for certificates of example\.com\/istio/);
});
