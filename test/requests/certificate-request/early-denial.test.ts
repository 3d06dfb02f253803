// SPDX-License-Identifier: Apache-2.0
/** With `--show-initializing`, a denial is shown even if the signer cannot sign. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CERTIFICATE_REQUEST_RESOURCE } from '#api/request/certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import { compileIssuerPolicy } from '#ca/policy/compile-policy.ts';
import { resource } from '#kube/resource/resource.ts';
import { createActor } from '#requests/certificate-request/act.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { oneObject } from '../../support/kube/single-object-api.ts';
import { KeptRecords } from '../../support/ledger/kept-records.ts';
import { NOW } from '../../support/pki/chain.ts';
import {
  certificateRequest,
  DENIED,
  servicesOfTeams,
} from '../../support/requests/certificate-request.ts';
import { workloadProfile } from '../../support/signers/workload-profile.ts';

test('a denial that is shown early is recorded before it is written', async () => {
  const ledger = new KeptRecords();
  const recorder = ledger.recorder('required', 'certificate-request');
  const component = recordedComponent({ name: 'certificate-request', clock: () => NOW, recorder });
  const request = certificateRequest({ conditions: [DENIED] });
  component.client.answer(oneObject(request).answer);
  const actor = createActor<ClusterSigner>({
    component,
    resource: resource(CERTIFICATE_REQUEST_RESOURCE),
    profileOf: () => workloadProfile(),
    policyOf: ({ spec }) => compileIssuerPolicy(spec),
    signers: { serving: () => servicesOfTeams() },
    cas: {
      issuing: () => {
        const code = 'AUTHORITY_MISSING';
        throw new SignerError({ code, disposition: 'authority', message: 'no CA' });
      },
    },
  });
  ledger.away = true;
  const denying = actor.begin(request, servicesOfTeams());
  await assert.rejects(denying, { code: 'LEDGER_UNAVAILABLE' });
  assert.deepEqual(component.client.requests, []);
  ledger.away = false;
  assert.equal((await actor.begin(request, servicesOfTeams()))?.outcome, 'denied');
  assert.equal(ledger.of('denied').length, 1);
});
