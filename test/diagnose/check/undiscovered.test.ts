// SPDX-License-Identifier: Apache-2.0
/** `countersign check` for a user who may not read API discovery: the rest is checked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKubernetes } from '#diagnose/check/reading/read-kubernetes.ts';
import { readPods } from '#diagnose/check/reading/read-pods.ts';
import { readRequests } from '#diagnose/check/reading/read-requests.ts';
import { readSigners } from '#diagnose/check/reading/read-signers.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { NOW, state } from '../../operations/signer-states.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';
import { findingsOf, signersOf } from './well.ts';

const { signer } = state();
const signers = { value: signersOf(state()) };
const LACKS = 'get /apis/certificates.k8s.io/* (ClusterRole system:discovery)';

const pod = {
  metadata: { name: 'web-0', namespace: 'team-a', uid: 'pod-1' },
  spec: {
    volumes: [
      { projected: { sources: [{ podCertificate: { signerName: signer.spec.signerName } }] } },
    ],
  },
};

/** A cluster that answers every list and no discovery. */
function cluster(): RecordedClient {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (path === '/version' || /^\/apis\/[^/]+\/[^/]+$/.test(path))
      throw new KubeError({ status: 403, what: `GET ${path}` });
    const items = path.endsWith('/clustersigners') ? [signer] : path.endsWith('/pods') ? [pod] : [];
    return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items };
  });
  return client;
}

test('check names the missing permission for the version and the served kinds', async () => {
  const kubernetes = await readKubernetes(cluster());
  assert.deepEqual(findingsOf('pod-certificates-served', { kubernetes })[0], {
    id: 'pod-certificates-served',
    severity: 'unseen',
    why: `you may not ${LACKS}`,
    remediation: 'run it as a user with this permission, or have the permission granted',
  });
  const [version] = findingsOf('api-server-version', { kubernetes });
  assert.match(version?.why ?? '', /you may not get \/version /);
  assert.deepEqual(kubernetes.kubelets, { value: [] });
});

test('check reads the signers without their bundles', async () => {
  const read = await readSigners({
    client: cluster(),
    clock: () => NOW,
    propagationSeconds: 300,
    namespace: 'countersign-system',
    secretNamespace: 'countersign-keys',
    servingSigner: 'countersign.dev/serving',
  });
  assert.ok('value' in read);
  assert.deepEqual(
    read.value.states.map(({ bundle }) => bundle),
    ['unread'],
  );
});

test('check names the missing permission for the requests of pods', async () => {
  const acme = { value: { signers: [], invalid: [], orders: { value: [] } } };
  assert.deepEqual(await readRequests(cluster(), signers, acme), { lacks: LACKS });
  assert.deepEqual(await readPods(cluster(), signers), { lacks: LACKS });
});
