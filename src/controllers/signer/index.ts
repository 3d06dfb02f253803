// SPDX-License-Identifier: Apache-2.0
import { isApproved, isFinished, type CertificateSigningRequest } from '../../api/csr.ts';
import type { OpenAuthority } from '../../authorities/contract.ts';
import { compileProfile } from '../../issuance/profile.ts';
import { resource, type Resource } from '../../kube/resource.ts';
import { createAuthoritySources } from '../../serving/authority-sources.ts';
import type { Component, Controller } from '../../serving/component.ts';
import { memoByGeneration } from '../../serving/memo.ts';
import { createRequestController } from '../../serving/request-controller.ts';
import { csrPlace, csrStays } from '../../serving/csr-place.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';

export interface SignerInit {
  readonly component: Component;
  readonly bundles: Resource;
  readonly open: OpenAuthority;
}

const WORKERS = 8;

const REQUESTS = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'certificatesigningrequests',
});

/** Signs approved CertificateSigningRequests of the signer names that it serves. */
export function createSigner(init: SignerInit): Controller {
  const { component } = init;
  const sources = createAuthoritySources(component, init.bundles, init.open);
  const actor = createActor({
    component,
    resource: REQUESTS,
    profileOf: memoByGeneration((signer) => compileProfile(signer.spec)),
    authorityOf: sources.usable,
  });
  return createRequestController<CertificateSigningRequest>({
    component,
    kind: 'CertificateSigningRequest',
    resource: REQUESTS,
    workers: WORKERS,
    serves: (spec) => spec.requests !== undefined,
    pending: (csr) => isApproved(csr) && !isFinished(csr),
    placeOf: csrPlace,
    stays: csrStays,
    handle: (csr, signer) =>
      signer.spec.requests === undefined
        ? Promise.resolve({ outcome: 'ignored', reason: '' })
        : actor.handle(csr, signer),
    onGone: actor.forget,
    regarding: ({ apiVersion, kind, metadata: { name, uid } }) => ({
      regarding: { apiVersion, kind, name, uid },
    }),
    permissions,
    sources,
  });
}
