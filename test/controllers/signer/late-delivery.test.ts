// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import type { CertificateSigningRequest } from '../../../src/api/request/csr.ts';
import { createActor } from '../../../src/controllers/signer/act.ts';
import { SignerError } from '../../../src/errors.ts';
import { compileProfile } from '../../../src/issuance/profile.ts';
import type { RequestInit } from '../../../src/kube/client/client.ts';
import type { Outcome } from '../../../src/runtime/requests/outcome.ts';
import { resource } from '../../../src/kube/resource/resource.ts';
import { localIssuing } from '../../../src/runtime/issuing/local-issuing.ts';
import { made } from '../../policy/request.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { NOW, openAuthority } from '../../support/authorities/issuing.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { readClusterSigner } from '../../../src/api/signer/read-signer.ts';

const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});
const MINUTE = 60_000;

const signer: ClusterSigner = readClusterSigner(clusterSigner(workloadSpec()));
const { csr } = made();
const approved: CertificateSigningRequest = {
  ...csr,
  status: { conditions: [{ type: 'Approved', status: 'True' }] },
};

/** An actor whose clock can be turned, and the certificates that it sent. */
async function start(): Promise<{
  readonly handle: () => Promise<unknown>;
  readonly sent: () => readonly string[];
  readonly answer: (by: (request: RequestInit) => unknown) => void;
  readonly later: (milliseconds: number) => void;
}> {
  const client = recordedClient();
  const authority = await openAuthority();
  let now = NOW;
  const component = recordedComponent({ client, clock: () => now });
  const { handle } = createActor({
    component,
    resource: REQUESTS,
    profileOf: ({ spec }) => compileProfile(spec),
    issuingOf: () => localIssuing(component, authority),
  });
  return {
    handle: () => handle(approved, signer),
    sent: () =>
      client.requests
        .filter(({ method }) => method === 'PUT')
        .map(({ body }) => (body as CertificateSigningRequest).status?.certificate ?? ''),
    answer: (by) => {
      client.answer(by);
    },
    later: (milliseconds) => {
      now += milliseconds;
    },
  };
}

function away(request: RequestInit): unknown {
  if (request.method === 'GET') return approved;
  throw new SignerError({ code: 'KUBE_FORBIDDEN', disposition: 'wait', message: 'no right yet' });
}

test('what could not be delivered is delivered as it is, and not signed twice', async () => {
  const { handle, sent, answer, later } = await start();
  answer(away);
  await assert.rejects(handle());
  later(4 * MINUTE);
  answer(() => approved);
  const { outcome, written } = (await handle()) as Outcome;
  assert.deepEqual([outcome, written?.metadata], ['issued', approved.metadata]);
  assert.equal(new Set(sent()).size, 1);
});

test('a leaf that waited too long for its delivery is signed anew, not delivered old', async () => {
  const { handle, sent, answer, later } = await start();
  answer(away);
  await assert.rejects(handle());
  later(60 * MINUTE);
  answer(() => approved);
  const { outcome, written } = (await handle()) as Outcome;
  assert.deepEqual([outcome, written?.metadata], ['issued', approved.metadata]);
  assert.equal(new Set(sent()).size, 2);
});
