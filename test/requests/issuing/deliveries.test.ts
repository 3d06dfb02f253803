// SPDX-License-Identifier: Apache-2.0
/** Leaves that are kept until they are delivered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { resource } from '#kube/resource/resource.ts';
import { Deliveries, type KeptLeaf } from '#requests/issuing/deliveries.ts';
import type { IssuedChain } from '#requests/issuing/issuing-ca.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { NOW } from '../../support/pki/chain.ts';
import { certificateRequest } from '../../support/requests/certificate-request.ts';

const VIA = resource(CERTIFICATE_REQUEST_RESOURCE);
const validity = { notBefore: NOW, notAfter: NOW + 3_600_000 };

function requestOf(name: string, uid: string): CertificateRequest {
  const request = certificateRequest();
  return { ...request, metadata: { ...request.metadata, name, uid } };
}

function leafOf(settled: () => void): KeptLeaf<IssuedChain> {
  return {
    template: {} as KeptLeaf<IssuedChain>['template'],
    issued: { kind: 'chain', chain: 'one', anchors: '', validity, settled },
    since: NOW,
    requester: {},
    signingContext: 'context',
    record: undefined,
  };
}

test('the CA keeps the chain of a leaf that too many others displaced', () => {
  const deliveries = new Deliveries<CertificateRequest, IssuedChain>(recordedComponent());
  const settled: number[] = [];
  for (let n = 0; n <= 10_000; n += 1)
    deliveries.keep(
      requestOf(`web-${n}`, `uid-${n}`),
      VIA,
      leafOf(() => settled.push(n)),
    );
  assert.deepEqual(settled, []);
});

test('a late answer to a write does not drop the leaf of a request of the same name', async () => {
  const component = recordedComponent({ clock: () => NOW });
  const deliveries = new Deliveries<CertificateRequest, IssuedChain>(component);
  const [first, namesake] = [requestOf('web', 'one'), requestOf('web', 'two')];
  let answer: (written: CertificateRequest) => void = () => undefined;
  const late = new Promise<CertificateRequest>((resolve) => {
    answer = resolve;
  });
  component.client.answer(({ method }) => (method === 'PUT' ? late : namesake));
  const leaf = deliveries.keep(
    first,
    VIA,
    leafOf(() => undefined),
  );
  const put = { path: VIA.object(first.metadata, 'status'), body: {} };
  const writing = deliveries.write(leaf, first, put);
  const kept = deliveries.keep(
    namesake,
    VIA,
    leafOf(() => undefined),
  );
  answer(first);
  await writing;
  const read = await deliveries.read(namesake, VIA, () => false);
  assert.equal('leaf' in read ? read.leaf : undefined, kept);
});
