// SPDX-License-Identifier: Apache-2.0
/**
 * Renewal information of Pebble: a window that moves, the mark of a Certificate on the real API
 * server, and `replaces`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Order } from '#api/acme/order.ts';
import type { CertManagerCertificate } from '#api/workload/certificate.ts';
import { applyCrds } from '../certmanager/crds.ts';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { installAcme } from '../support/acme/installation.ts';
import { accountSecret, acmeClusterSigner, waitForAcmeSigner } from '../support/acme/signer.ts';
import { apply } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import {
  allowCertificateRequesters,
  approvedRequest,
  getCertificateRequest,
  waitForReadyReason,
} from '../support/cluster/requests/certificate-request.ts';
import { startPebble, type Pebble } from './pebble.ts';

const NAMESPACE = 'team-a';
const ORDERS = 'orders.acme.countersign.dev';
const CERTIFICATES = 'certificates.cert-manager.io';
const SOON = 120_000;
const HOUR = 60 * 60_000;
const issuerRef = { group: 'acme.countersign.dev', kind: 'AcmeClusterSigner', name: 'public' };
const usages = ['digital signature', 'server auth'];

let cluster: Cluster;
let pebble: Pebble;
let acme: ComponentProcess;
let kubeconfig: string;
const directory = mkdtempSync(join(tmpdir(), 'acme-renewals-'));

before(async () => {
  cluster = await startCluster({ version: '1.37', nodes: 0 });
  pebble = await startPebble(directory, { env: { PEBBLE_VA_ALWAYS_VALID: '1' } });
  await installAcme(cluster, { components: ['acme'], renewCertificates: true });
  await applyCrds(cluster);
  await allowCertificateRequesters(cluster);
  await cluster.kubectl(['create', 'namespace', NAMESPACE]);
  const solvers = [{ name: 'http', selfCheck: { waitInstead: '0s' }, http01: {} }];
  const rules = [{ name: 'all', when: 'true', allow: { dnsNames: 'true', usages } }];
  const spec = { profile: { usages }, certificateRequests: { rules } };
  await apply(cluster, await accountSecret(), acmeClusterSigner({ server: pebble, solvers, spec }));
  kubeconfig = await componentKubeconfig(cluster, 'acme');
  acme = await startComponent({ name: 'acme', kubeconfig, args: ['--renew-certificates'] });
  await waitForAcmeSigner(cluster);
});

after(async () => {
  await acme.stop();
  await pebble.stop();
  await cluster.stop();
  rmSync(directory, { recursive: true });
});

async function get<T>(kind: string, name: string): Promise<T> {
  const { stdout } = await cluster.kubectl(['get', kind, name, '-n', NAMESPACE, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

/** A Certificate as cert-manager has it once its Secret has the certificate of a revision. */
async function certificate(name: string, issuer: object = issuerRef): Promise<string> {
  const spec = { secretName: name, dnsNames: [`${name}.example`], issuerRef: issuer };
  const metadata = { name, namespace: NAMESPACE };
  await apply(cluster, { apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata, spec });
  const conditions = [
    { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const patch = JSON.stringify({ status: { revision: 1, conditions } });
  await cluster.kubectl([
    'patch',
    CERTIFICATES,
    name,
    '-n',
    NAMESPACE,
    '--subresource=status',
    '--type=merge',
    '-p',
    patch,
  ]);
  return (await get<CertManagerCertificate>(CERTIFICATES, name)).metadata.uid;
}

/**
 * A request as cert-manager makes it for a revision of a Certificate, and its Order once it is
 * issued.
 */
async function revision(name: string, uid: string, number: number): Promise<Order> {
  const annotations = {
    'cert-manager.io/certificate-name': name,
    'cert-manager.io/certificate-revision': `${number}`,
  };
  const wanted = { dnsNames: [`${name}.example`], usages, issuerRef, annotations };
  const key = await approvedRequest(cluster, wanted);
  const request = key.split('/')[1] ?? '';
  const owner = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate', name, uid };
  const ownerReferences = [{ ...owner, controller: true }];
  await cluster.kubectl([
    'patch',
    'certificaterequest',
    request,
    '-n',
    NAMESPACE,
    '--type=merge',
    '-p',
    JSON.stringify({ metadata: { ownerReferences } }),
  ]);
  await waitForReadyReason(cluster, key, 'Issued');
  assert.ok((await getCertificateRequest(cluster, key)).status?.certificate);
  return get<Order>(ORDERS, `${request}-1`);
}

/** What Pebble answers from now on for the certificate of an Order. */
async function suggest({ status }: Order, start: number, end: number): Promise<void> {
  const [leaf = ''] = (status.certificate ?? '').split(/(?<=-----END CERTIFICATE-----)/);
  const [from, to] = [start, end].map((each) => new Date(each).toISOString());
  const suggestedWindow = { start: from, end: to };
  const answer = { suggestedWindow, explanationURL: 'https://ca.example/incident' };
  const body = { certificate: leaf, ariResponse: JSON.stringify(answer) };
  await pebble.manage('/set-renewal-info/', JSON.stringify(body));
}

/** As acme itself: the time of the next look has come. */
async function lookNow(name: string): Promise<void> {
  await until('its own note is written', SOON, async () => {
    const order = await get<Order>(ORDERS, name);
    const renewal = { ...order.status.renewal, checkAt: '2026-01-01T00:00:00Z' };
    const input = JSON.stringify({ ...order, status: { ...order.status, renewal } });
    const { code } = await cluster.kubectl(['replace', '--subresource=status', '-f', '-'], {
      kubeconfig,
      input,
      allowFailure: true,
    });
    return code === 0;
  });
}

function planned(name: string, isThere: (renewal: object) => boolean) {
  return until('the plan is in the status', SOON, async () => {
    const { status } = await get<Order>(ORDERS, name);
    return status.renewal !== undefined && isThere(status.renewal) && status.renewal;
  });
}

test('the status has the window; a moved one marks the Certificate; the order replaces', async () => {
  const uid = await certificate('shop');
  const { metadata, ...first } = await revision('shop', uid, 1);
  const { name } = metadata;
  // Within the hour it would be asked for anyway.
  await lookNow(name);
  const window = await planned(name, (renewal) => 'windowStart' in renewal);
  const { windowStart = '', windowEnd = '', renewAt = '' } = window;
  assert.ok(windowStart <= renewAt && renewAt <= windowEnd, JSON.stringify(window));
  assert.ok(Date.parse(renewAt) > Date.now());

  await suggest({ metadata, ...first }, Date.now() - 2 * HOUR, Date.now() - HOUR);
  await lookNow(name);
  const due = await planned(name, (renewal) => 'markedAt' in renewal);
  assert.equal(due.reason, 'CertificateMarked');
  assert.equal(due.explanationURL, 'https://ca.example/incident');
  const { status } = await get<CertManagerCertificate>(CERTIFICATES, 'shop');
  const told = status?.conditions?.map((each) => [each.type, each.status, each.reason]);
  assert.deepEqual(told, [
    ['Ready', 'True', undefined],
    ['Issuing', 'True', 'RenewalInfo'],
  ]);
  for (const reason of ['RenewalMoved', 'CertificateMarked']) {
    await until(`an Event says ${reason}`, SOON, async () => {
      const of = `reason=${reason},involvedObject.name=${name}`;
      const { stdout } = await cluster.kubectl([
        'get',
        'events',
        '-n',
        NAMESPACE,
        '--field-selector',
        of,
        '-o',
        'name',
      ]);
      return stdout.trim() !== '';
    });
  }

  const second = await revision('shop', uid, 2);
  assert.match(second.spec.replaces ?? '', /^[\w-]+\.[\w-]+$/);
  assert.deepEqual([second.spec.renewal, second.status.replacesRefused], [true, undefined]);
  // Nobody knows any more that the first one was replaced, but Pebble: it refuses, and is asked
  // without.
  await cluster.kubectl(['delete', ORDERS, second.metadata.name, '-n', NAMESPACE]);
  const third = await revision('shop', uid, 3);
  assert.equal(third.spec.replaces, second.spec.replaces);
  assert.deepEqual([third.status.state, third.status.replacesRefused], ['valid', true]);
});

test('acme marks Certificates of ACME signers for renewal and changes nothing else', async () => {
  await certificate('ours');
  await certificate('foreign', { group: 'cert-manager.io', kind: 'Issuer', name: 'a' });
  const issuing = { type: 'Issuing', status: 'True', reason: 'RenewalInfo' };
  const write = async (name: string, change: object, ...conditions: readonly object[]) => {
    const { status, ...rest } = await get<CertManagerCertificate>(CERTIFICATES, name);
    const all = [...(status?.conditions ?? []), ...conditions];
    return { ...rest, status: { ...status, conditions: all, ...change } };
  };
  const replace = ['replace', '--dry-run=server', '--subresource=status', '-f', '-'];
  const attempt = (object: object, as: object) =>
    cluster.kubectl(replace, { allowFailure: true, input: JSON.stringify(object), ...as });
  const ready = { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
  for (const [says, object] of [
    [/its issuer is not an ACME signer/, await write('foreign', {}, issuing)],
    [/only the condition Issuing/, await write('ours', { revision: 7 }, issuing)],
    [/only the condition Issuing/, await write('ours', { conditions: [ready, issuing] })],
    [/only the condition Issuing/, await write('ours', { conditions: [issuing] })],
    [/but to True, with reason RenewalInfo/, await write('ours', {}, { ...issuing, reason: 'X' })],
    [/but to True, with/, await write('ours', {}, { ...issuing, status: 'False' })],
    [/but to True, with/, await write('ours', {})],
  ] as const) {
    const { code, stderr } = await attempt(object, { kubeconfig });
    assert.notEqual(code, 0, JSON.stringify(object));
    assert.match(stderr, says);
    // Nothing but the policy is against it.
    assert.equal((await attempt(object, {})).code, 0);
  }
  const good = await attempt(await write('ours', {}, issuing), { kubeconfig });
  assert.equal(good.code, 0, good.stderr);
  const marked = await attempt(await write('shop', {}), { kubeconfig });
  assert.match(marked.stderr, /reason RenewalInfo, once/);
  const whole = await cluster.kubectl(
    ['annotate', CERTIFICATES, 'ours', '-n', NAMESPACE, 'a=b', '--dry-run=server'],
    { allowFailure: true, kubeconfig },
  );
  assert.match(whole.stderr, /forbidden/i);
});
