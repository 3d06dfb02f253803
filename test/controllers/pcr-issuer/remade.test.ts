// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActor } from '../../../src/controllers/pcr-issuer/act.ts';
import { compileProfile } from '../../../src/issuance/profile.ts';
import { resource } from '../../../src/kube/resource/resource.ts';
import type { Component } from '../../../src/runtime/component/component.ts';
import { localIssuing } from '../../../src/runtime/issuing/local-issuing.ts';
import { clusterSigner, workloadSpec } from '../../support/signers/cluster-signer.ts';
import { NOW, openAuthority, random } from '../../support/authorities/issuing.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { readClusterSigner } from '../../../src/api/signer/read-signer.ts';

const GROUP = { group: 'certificates.k8s.io', plural: 'podcertificaterequests' } as const;

test('what was made anew under the name meanwhile is not answered in the place of what was asked', async () => {
  const client = recordedClient();
  const authority = await openAuthority();
  const seen = podRequest({ stubPKCS10Request: '' });
  // Of another signer: its own ClusterSigner has not said a word about it.
  const other = podRequest({ signerName: 'example.com/other', serviceAccountName: 'admin' });
  client.answer(() => ({ ...other, metadata: { ...other.metadata, uid: 'made-anew' } }));
  const component = {
    client,
    clock: () => NOW,
    random,
    reservedPrefixes: [],
  } as unknown as Component;
  const { handle } = createActor({
    component,
    resource: resource({ ...GROUP, version: 'v1' }),
    legacy: resource({ ...GROUP, version: 'v1beta1' }),
    profileOf: ({ spec }) => compileProfile(spec),
    issuingOf: () => localIssuing(component, authority),
  });
  const outcome = await handle(seen, readClusterSigner(clusterSigner(workloadSpec())));
  assert.equal(outcome.outcome, 'ignored');
  assert.deepEqual(
    client.requests.map(({ method }) => method),
    ['GET'],
  );
});
