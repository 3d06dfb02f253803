// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeLease } from '#cli/commands/install/installed-objects.ts';
import { impactOf } from '#cli/commands/install/impact.ts';
import { readLeftBehind } from '#cli/commands/install/left-behind.ts';
import { objectsLeft, removalCommands } from '#cli/commands/install/removal.ts';
import { kubectlName } from '#cli/commands/install/run.ts';
import { markUnserved } from '#cli/commands/install/unserved.ts';
import { leaseLabels } from '#component/leases.ts';
import type { Condition } from '#api/request/conditions.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { state } from '../../operations/signer-states.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';

const KEYS = 'countersign-keys';

function listOf(items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
}
const GRANTED = { 'countersign.dev/signer-name': 'example.com/people' };

test('lists a user’s CA in the key namespace, which goes with the namespace', async () => {
  const secrets = [
    { name: 'people-ca', namespace: KEYS, annotations: GRANTED },
    { name: 'workload-ca', namespace: KEYS, annotations: GRANTED, made: true },
    { name: 'unrelated', namespace: KEYS },
    { name: 'team-ca', namespace: 'team-a', annotations: GRANTED },
  ];
  const client = recordedClient();
  client.answer(({ path, query }) => {
    const list = (items: readonly object[]): object =>
      listOf(items.map((metadata) => ({ metadata })));
    if (path.endsWith('/namespaces')) return list([{ name: KEYS }]);
    if (path.endsWith(`/namespaces/${KEYS}/secrets`))
      return list(secrets.filter(({ namespace }) => namespace === KEYS));
    if (path.endsWith('/secrets') && query?.['labelSelector']?.toString().includes('managed-by'))
      return list(secrets.filter(({ made }) => made === true));
    return list([]);
  });
  const { secrets: left } = await readLeftBehind(client);
  assert.deepEqual(left.map(({ metadata }) => metadata.name).sort(), ['people-ca', 'workload-ca']);
});

test('uninstall goes on for a user who may not read API discovery', async () => {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (path.startsWith('/apis/certificates.k8s.io/'))
      throw new KubeError({ status: 403, what: `GET ${path}` });
    return listOf(path.endsWith('/namespaces') ? [{ metadata: { name: KEYS } }] : []);
  });
  const { namespaces, bundles, unseen } = await readLeftBehind(client);
  assert.deepEqual([namespaces.length, bundles], [1, []]);
  assert.deepEqual(unseen, [
    'clustertrustbundles.certificates.k8s.io without API discovery (ClusterRole system:discovery)',
  ]);
});

test('names each signer, Revocation, Order and CRL that stays', async () => {
  const client = recordedClient();
  const made = 'app.kubernetes.io/managed-by=countersign';
  const answers: readonly (readonly [path: string, selector: string, object])[] = [
    ['/clustersigners', '', { name: 'people' }],
    ['/signers', '', { name: 'web', namespace: 'team-a' }],
    ['/externalclustersigners', '', { name: 'vault' }],
    ['/acmeclustersigners', '', { name: 'public' }],
    ['/acmesigners', '', { name: 'own', namespace: 'team-a' }],
    ['/orders', '', { name: 'web-1', namespace: 'team-a' }],
    ['/revocations', '', { name: 'stolen' }],
    ['/configmaps', made, { name: 'people-ca-crl', namespace: KEYS }],
  ];
  client.answer(({ path, query }) => {
    const selector = query?.['labelSelector']?.toString() ?? '';
    const found = answers.filter(([end, of]) => path.endsWith(end) && of === selector);
    return listOf(found.map(([, , metadata]) => ({ metadata })));
  });
  const left = await readLeftBehind(client);
  assert.deepEqual(objectsLeft(left).map(kubectlName).sort(), [
    'acmeclustersigner/public',
    'acmesigner/own -n team-a',
    'clustersigner/people',
    `configmap/people-ca-crl -n ${KEYS}`,
    'externalclustersigner/vault',
    'order/web-1 -n team-a',
    'revocation/stolen',
    'signer/web -n team-a',
  ]);
  const crl = `kubectl delete configmap/people-ca-crl -n ${KEYS}`;
  assert.ok(removalCommands(left).includes(crl));
});

test('the Lease of an operator, which still runs, is none of those that are deleted', async () => {
  const client = recordedClient();
  const leaseOf = (component: string): object => ({
    metadata: {
      name: `countersign-${component}-5f7c`,
      namespace: 'countersign-system',
      labels: leaseLabels(component, KEYS),
    },
  });
  const leases = ['signer', 'operator', 'cert-manager-operator'].map(leaseOf);
  client.answer(({ path }) => listOf(path.endsWith('/leases') ? leases : []));
  const left = await readLeftBehind(client);
  assert.deepEqual(left.leases.map(kubectlName), [
    'lease/countersign-signer-5f7c -n countersign-system',
  ]);
});

test('a Lease of ours with a name that no component uses is kept, and listed', async () => {
  const named = (name: string, component: string, namespace = 'elsewhere'): object => ({
    metadata: { name, namespace, labels: leaseLabels(component, KEYS) },
  });
  const client = recordedClient();
  const leases = [
    named('countersign-signer-5f7c', 'signer'),
    named('countersign-acme.countersign-keys', 'acme'),
    // A CA by our library has our labels, and the rest anybody can label.
    named('countersign-corporate-5f7c', 'corporate'),
    named('leader-of-team-a', 'signer'),
    named('countersign-acme-5f7c', 'signer'),
    named('countersign-signer.countersign-keys', 'signer'),
    named('leader-of-team-b', 'signer', 'team-b'),
    { metadata: { name: 'countersign-signer-1', namespace: 'elsewhere' } },
  ];
  client.answer(({ path }) => {
    if (path.endsWith('/namespaces')) return listOf([{ metadata: { name: 'elsewhere' } }]);
    return listOf(path.endsWith('/leases') ? leases : []);
  });
  const left = await readLeftBehind(client);
  assert.deepEqual(left.leases.map(kubectlName), [
    'lease/countersign-signer-5f7c -n elsewhere',
    'lease/countersign-acme.countersign-keys -n elsewhere',
  ]);
  assert.deepEqual(objectsLeft(left).map(kubectlName), [
    'namespace/elsewhere',
    'lease/countersign-corporate-5f7c -n elsewhere',
    'lease/leader-of-team-a -n elsewhere',
    'lease/countersign-acme-5f7c -n elsewhere',
    'lease/countersign-signer.countersign-keys -n elsewhere',
    'lease/countersign-signer-1 -n elsewhere',
  ]);
});

test('says what ends for verifiers: issuance, and the CRLs at each URL', () => {
  const { signer } = state();
  const urls = ['http://crl.example.com/{authority}.crl'];
  const profile = { ...signer.spec.profile, crl: { validity: '168h', urls } };
  const spec = { ...signer.spec, profile };
  const object = { apiVersion: 'v1', kind: 'ClusterSigner', metadata: signer.metadata, spec };
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'countersign-crl' } };
  const said = impactOf({ signers: [object] }, [service]);
  assert.match(said[0] ?? '', /^no component issues or renews certificates: /);
  assert.match(said[1] ?? '', /^Service countersign-crl is deleted: /);
  // RFC 5280 §6.3.3: a CRL past its nextUpdate does not tell the status of a certificate.
  assert.match(
    said[2] ?? '',
    /at http:\/\/crl\.example\.com\/\{authority\}\.crl\. .*nextUpdate, 168h/,
  );
  assert.match(said[2] ?? '', /ConfigMap countersign-keys\/workload-ca-crl/);
  assert.deepEqual(impactOf({ signers: [] }, []), []);
});

test('a fault that stopping components report ends with them: Degraded is Unknown', async () => {
  const condition = (type: string, reason: string): object => ({ type, status: 'True', reason });
  const conditions = [condition('Ready', 'Checked'), condition('Degraded', 'LedgerUnavailable')];
  const client = recordedClient();
  client.answer(({ method, path }) => {
    const metadata = { name: 'workload', resourceVersion: '1' };
    const isList = method === 'GET';
    const items = path.endsWith('/clustersigners') ? [{ metadata, status: { conditions } }] : [];
    return isList ? listOf(items) : {};
  });
  assert.equal(await markUnserved(client, new Date(0)), 1);
  const [patch] = client.requests.filter(({ method }) => method === 'PATCH');
  const { status } = patch?.body as { status: { conditions: readonly Condition[] } };
  assert.deepEqual(
    status.conditions.map(({ type, status: value, reason }) => [type, value, reason]).sort(),
    [
      ['Degraded', 'Unknown', 'NotServed'],
      ['Ready', 'False', 'NotServed'],
    ],
  );
});

test('a Lease of a component that has ended is deleted, or kept if that is refused', async () => {
  const metadata = { name: 'signer', namespace: 'elsewhere', uid: 'u-1' };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
  const client = recordedClient();
  client.answer(() => ({}));
  assert.equal(await removeLease(client, lease, true), 'deleted');
  const [request] = client.requests;
  assert.equal(request?.method, 'DELETE');
  assert.equal(request.path, '/apis/coordination.k8s.io/v1/namespaces/elsewhere/leases/signer');
  const { preconditions, dryRun } = request.body as Record<string, unknown>;
  assert.deepEqual([preconditions, dryRun], [{ uid: 'u-1' }, ['All']]);
  // 409: a tenant replaced the Lease. 422: an admission policy of a tenant.
  for (const status of [403, 409, 422]) {
    client.answer(() => {
      throw new KubeError({ status, what: 'DELETE' });
    });
    assert.equal(await removeLease(client, lease, false), 'kept');
  }
});

test('a signer that lacked one component before names it no longer', async () => {
  const signer = (name: string, reason: string, message: string): object => {
    const ready = { type: 'Ready', status: 'False', reason, message };
    return { metadata: { name, resourceVersion: '1' }, status: { conditions: [ready] } };
  };
  const absent = 'no replica of certificate-request is alive';
  const items = [
    signer('partly', 'NotServed', absent),
    signer('gone', 'NotServed', 'Countersign was uninstalled: no component serves this signer'),
    signer('invalid', 'InvalidSpec', 'spec.pods'),
  ];
  const client = recordedClient();
  client.answer(({ method, path }) => {
    const isList = method === 'GET';
    return isList ? listOf(path.endsWith('/clustersigners') ? items : []) : {};
  });
  assert.equal(await markUnserved(client, new Date(0)), 1);
  const [patch] = client.requests.filter(({ method }) => method === 'PATCH');
  assert.match(patch?.path ?? '', /\/clustersigners\/partly\/status$/);
  assert.match(JSON.stringify(patch?.body), /Countersign was uninstalled/);
});
