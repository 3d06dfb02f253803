// SPDX-License-Identifier: Apache-2.0
/** `check` reads the requests and the pods of every kind of signer of this installation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import { derivedName } from '#api/signer/signer.ts';
import type { PodFacts, SignerFacts } from '#diagnose/check/facts.ts';
import { readPods } from '#diagnose/check/reading/read-pods.ts';
import { readRequests } from '#diagnose/check/reading/read-requests.ts';
import { MINUTE, at, state } from '../../operations/signer-states.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { findingsOf, installed, signersOf } from './well.ts';

const EXTERNAL = 'example.com/corporate';
const DERIVED = derivedName({ namespace: 'team-a', name: 'own' });
const NAMES = ['example.com/workload', EXTERNAL, DERIVED];
const OTHER = 'example.org/other';

const workload = signersOf(state());
const SIGNERS: SignerFacts = {
  ...workload,
  installation: { ...workload.installation, external: { signers: [EXTERNAL] } },
};

function pod(signerName: string): Pod {
  const metadata = { namespace: 'team-a', name: signerName, uid: signerName, resourceVersion: '1' };
  const sources = [{ podCertificate: { signerName } }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, creationTimestamp: at(-3 * MINUTE) },
    spec: { nodeName: 'node-1', volumes: [{ projected: { sources } }] },
    status: { phase: 'Pending', startTime: at(-3 * MINUTE) },
  };
}

function request(signerName: string, type?: string): ReturnType<typeof podRequest> {
  const conditions = type === undefined ? [] : [{ type, status: 'True', reason: 'No' } as never];
  const made = podRequest({ podUID: signerName, signerName }, { conditions });
  return { ...made, metadata: { ...made.metadata, name: signerName } };
}

const ALL = [...NAMES, OTHER];
const client = recordedClient();
client.answer(({ path }) => {
  if (path === '/apis/certificates.k8s.io/v1')
    return { resources: [{ name: 'podcertificaterequests' }] };
  const items = path.endsWith('/podcertificaterequests')
    ? ALL.map((name) => request(name))
    : path.endsWith('/pods')
      ? ALL.map(pod)
      : [];
  return { apiVersion: 'v1', kind: 'List', metadata: {}, items, groups: [], resources: [] };
});

test('waiting requests to Signers and ExternalClusterSigners are read', async () => {
  const acme = { value: { signers: [], invalid: [], orders: { value: [] } } };
  const read = await readRequests(client, { value: SIGNERS }, acme);
  assert.ok('value' in read);
  assert.deepEqual(
    read.value.map(({ signerName }) => signerName),
    NAMES,
  );
});

test('pods of Signers and ExternalClusterSigners, and their requests, are read', async () => {
  const read = await readPods(client, { value: SIGNERS });
  assert.ok('value' in read);
  const { mounting, requests } = read.value;
  assert.deepEqual(
    mounting.map(({ metadata }) => metadata.name),
    NAMES,
  );
  assert.deepEqual(
    requests.map(({ spec }) => spec.signerName),
    NAMES,
  );
});

for (const name of NAMES) {
  test(`a pod that gets no certificate of ${name} is an error`, () => {
    const { pods: read } = installed;
    assert.ok('value' in read);
    const withPods = (pods: Partial<PodFacts>): Parameters<typeof findingsOf>[1] => ({
      installed: {
        signers: { value: SIGNERS },
        pods: { value: { ...read.value, ...pods } },
      },
    });
    const [late] = findingsOf('pods-requested', withPods({ mounting: [pod(name)], requests: [] }));
    assert.equal(late?.severity, 'error');
    const denied = { mounting: [pod(name)], requests: [request(name, 'Denied')] };
    const [refused] = findingsOf('requests-granted', withPods(denied));
    assert.equal(refused?.severity, 'error');
  });
}
