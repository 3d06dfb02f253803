// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActor } from '../../../src/controllers/pcr-issuer/act.ts';
import { SignerError } from '../../../src/errors.ts';
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

test('a request that has no key in any version is read again once, and waits', async () => {
  const client = recordedClient();
  const authority = await openAuthority();
  const keyless = podRequest({ stubPKCS10Request: '' });
  client.answer(() => {
    assert.ok(client.requests.length < 3, 'it is read again and again');
    return keyless;
  });
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
  const signer = readClusterSigner(clusterSigner(workloadSpec()));
  await assert.rejects(
    handle(keyless, signer),
    (error) => error instanceof SignerError && error.disposition === 'wait',
  );
  assert.equal(client.requests.length, 1);
});
