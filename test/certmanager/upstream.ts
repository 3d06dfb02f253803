// SPDX-License-Identifier: Apache-2.0
/**
 * A CA issuer of the real cert-manager signs a managed CA: approved by cert-manager's own approver,
 * verified by OpenSSL from the root alone, and rotated.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { findCondition } from '#api/request/conditions.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { formatTime } from '#api/object/time.ts';
import { encodePem, decodePem } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { DEMO } from '../../build/demo-installation.ts';
import { renderAdmission, renderRbac } from '#install/render.ts';
import { until } from '../cluster/until.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { startCertManager, type CertManager } from './start.ts';

const NAME = 'workload';
const NAMESPACE = 'pki';
const WAIT_MS = 120_000;
const ISSUER = { group: 'cert-manager.io', kind: 'Issuer', name: 'corporate' };
const TEXT = `${NAMESPACE}/Issuer.cert-manager.io/corporate`;

let fixture: Fixture;
let certManager: CertManager | undefined;
const directory = mkdtempSync(join(tmpdir(), 'upstream-issuer-'));
const at = (name: string): string => join(directory, name);
before(async () => {
  fixture = await startFixture({
    only: ['authority', 'attester'],
    args: ['--propagation', '3s'],
  });
  const { cluster } = fixture;
  await cluster.kubectl(['create', 'namespace', NAMESPACE]);
  certManager = await startCertManager(cluster);
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', at('root.key'));
  const usages = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  const root = ['-x509', '-key', at('root.key'), '-days', '3650', '-subj', '/CN=Company root'];
  openssl('req', ...root, ...usages, '-out', at('root.crt'));
  const read = (name: string): string => readFileSync(at(name)).toString('base64');
  await apply(
    cluster,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { namespace: NAMESPACE, name: 'corporate' },
      data: { 'tls.crt': read('root.crt'), 'tls.key': read('root.key') },
    },
    {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Issuer',
      metadata: { namespace: NAMESPACE, name: ISSUER.name },
      spec: { ca: { secretName: 'corporate' } },
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'approve-issuers' },
      rules: [
        {
          apiGroups: ['cert-manager.io'],
          resources: ['signers'],
          resourceNames: ['issuers.cert-manager.io/*'],
          verbs: ['approve'],
        },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'approve-issuers' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'approve-issuers',
      },
      subjects: [{ kind: 'ServiceAccount', name: 'cert-manager', namespace: 'cert-manager' }],
    },
  );
});
after(async () => {
  rmSync(directory, { recursive: true });
  await certManager?.stop();
  await fixture.stop();
});

function openssl(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

const signer = (): Promise<ClusterSigner> => getSigner(fixture.cluster, NAME);

async function change(body: object, as?: string): Promise<void> {
  const user = as === undefined ? [] : [`--as=${as}`];
  const patch = ['--type=merge', '-p', JSON.stringify(body), ...user];
  await fixture.cluster.kubectl(['patch', 'clustersigner', NAME, ...patch]);
}

const upstream = (more: object = {}): object => {
  const certManager = {
    namespace: NAMESPACE,
    issuerRef: ISSUER,
    rootFingerprint: fingerprint(decodePem(readFileSync(at('root.crt'), 'utf8'), 'CERTIFICATE')),
    trustEverythingBelow: true,
    ...more,
  };
  return { spec: { authority: { managed: { upstream: { certManager } } } } };
};

/** The reason of AwaitingCertificate, once it is this one. */
function awaits(reason: string): Promise<string> {
  return until(`AwaitingCertificate is ${reason}`, WAIT_MS, async () => {
    const found = findCondition((await signer()).status?.conditions, 'AwaitingCertificate');
    if (found?.reason === reason) return found.message ?? '';
    throw new Error(`${found?.reason ?? 'none'}: ${found?.message ?? ''}`);
  });
}

async function active(except?: string): Promise<AuthorityStatus> {
  return until('another CA is Active', WAIT_MS, async () => {
    const { status } = await signer();
    const found = (status?.authorities ?? []).find(
      (each) => each.phase === 'Active' && each.fingerprint !== except,
    );
    if (found !== undefined) return found;
    throw new Error(JSON.stringify(status?.conditions));
  });
}

async function requests(): Promise<readonly CertificateRequest[]> {
  const of = ['get', 'certificaterequests.cert-manager.io', '-n', NAMESPACE, '-o', 'json'];
  const { stdout } = await fixture.cluster.kubectl(of);
  return (JSON.parse(stdout) as { readonly items: readonly CertificateRequest[] }).items;
}

/** What OpenSSL says of the CA in the Secret, from the root alone. */
async function verdict(): Promise<string> {
  const of = ['get', 'secret', 'workload-ca', '-n', 'countersign-keys', '-o', 'json'];
  const { stdout } = await fixture.cluster.kubectl(of);
  const { data } = JSON.parse(stdout) as { readonly data: Readonly<Record<string, string>> };
  const chain = Buffer.from(data['tls.crt'] ?? '', 'base64').toString();
  writeFileSync(at('ca.crt'), encodePem('CERTIFICATE', decodePem(firstOf(chain), 'CERTIFICATE')));
  const args = ['verify', '-x509_strict', '-no-CApath', '-no-CAstore', '-CAfile', at('root.crt')];
  const found = spawnSync('openssl', [...args, at('ca.crt')], { encoding: 'utf8' });
  return found.status === 0 ? 'OK' : found.stdout + found.stderr;
}

const firstOf = (chain: string): string =>
  chain.slice(0, chain.indexOf('-----END CERTIFICATE-----')) + '-----END CERTIFICATE-----\n';

let self: AuthorityStatus;
test('requests nothing of an issuer that the installation does not list', async () => {
  self = await active();
  await change(upstream());
  assert.match(
    await awaits('UpstreamUnavailable'),
    /upstreamIssuers in the values .*--upstream-issuer/,
  );
  assert.deepEqual(await requests(), []);
  assert.equal((await active()).fingerprint, self.fingerprint);
});

test('a user who may not create requests there cannot name its issuer', async () => {
  const { cluster } = fixture;
  const verbs = ['--verb=get,patch', '--resource=clustersigners.countersign.dev'];
  await cluster.kubectl(['create', 'clusterrole', 'writer', ...verbs]);
  const binding = ['--clusterrole=writer', '--user=mallory'];
  await cluster.kubectl(['create', 'clusterrolebinding', 'writer', ...binding]);
  await apply(cluster, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'signs' },
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['example.com/workload'],
        verbs: ['sign', 'attest'],
      },
    ],
  });
  const signs = ['--clusterrole=signs', '--user=mallory'];
  await cluster.kubectl(['create', 'clusterrolebinding', 'signs', ...signs]);
  const other = upstream({ issuerRef: { ...ISSUER, name: 'another' } });
  await assert.rejects(change(other, 'mallory'), /may not create CertificateRequests in namespace/);
});

test('the listed issuer signs, and OpenSSL accepts the CA from the root alone', async () => {
  const installation = { ...DEMO, upstreamIssuers: [TEXT] };
  const role = renderRbac(installation).get('authority.yaml');
  const policies = renderAdmission(installation).get('components.yaml');
  assert.ok(role !== undefined && policies !== undefined);
  await applyText(fixture.cluster, role);
  await applyText(fixture.cluster, policies);
  const next = await active(self.fingerprint);
  assert.equal(await verdict(), 'OK');
  assert.notEqual(next.anchors, undefined);
  const [request, ...more] = await requests();
  assert.ok(request !== undefined && more.length === 0);
  assert.equal(
    request.spec.username,
    'system:serviceaccount:countersign-system:countersign-authority',
  );
  assert.deepEqual(await awaits('NotAwaited'), 'no certificate is awaited from the upstream CA');
  self = next;
});

test('authority may request nothing else, and read no other request', async () => {
  const { cluster } = fixture;
  const account = 'countersign-authority';
  const kubeconfig = await cluster.serviceAccountKubeconfig('countersign-system', account);
  const [request] = await requests();
  assert.ok(request !== undefined);
  const { request: csr, issuerRef, duration, isCA = true, usages = [] } = request.spec;
  const spec = { request: csr, issuerRef, duration, isCA, usages };
  const create = (more: object): Promise<unknown> => {
    const object = {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: { namespace: NAMESPACE, name: 'forged' },
      spec: { ...spec, ...more },
    };
    const args = ['create', '-f', '-', '--kubeconfig', kubeconfig];
    return cluster.kubectl(args, { input: JSON.stringify(object) });
  };
  const other = { issuerRef: { ...ISSUER, name: 'another' } };
  await assert.rejects(create(other), /its issuer is not listed in this installation/);
  const more = { usages: [...usages, 'client auth'] };
  await assert.rejects(create(more), /may request only certificates of CAs/);
  const list = ['get', 'certificaterequests.cert-manager.io', '-n', NAMESPACE];
  await assert.rejects(cluster.kubectl([...list, '--kubeconfig', kubeconfig]), /Forbidden/);
});

test('a rotation requests once more, and the successor signs', async () => {
  const now = formatTime(Date.now());
  await change({ metadata: { annotations: { [PREPARE_AT]: now, [ROTATE_AT]: now } } });
  await active(self.fingerprint);
  assert.equal(await verdict(), 'OK');
  assert.equal((await requests()).length, 2);
});

test('another root in the spec is refused, and the CA signs on', async () => {
  const { fingerprint: signing } = await active();
  const now = formatTime(Date.now() + 2_000);
  const annotations = { [PREPARE_AT]: now, [ROTATE_AT]: now };
  const rootFingerprint = `sha256:${'0'.repeat(64)}`;
  await change({ ...upstream({ rootFingerprint }), metadata: { annotations } });
  assert.match(await awaits('RootMismatch'), /a new request replaces it at /);
  assert.equal((await active()).fingerprint, signing);
});
