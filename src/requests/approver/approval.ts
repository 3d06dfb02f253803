// SPDX-License-Identifier: Apache-2.0
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import {
  servesSigningRequests,
  type SignerObject,
  type SignerSpec,
} from '#api/signer/cluster-signer.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { resource } from '#kube/resource/resource.ts';
import { compilePolicy, type RequestPolicy } from '#ca/policy/compile-policy.ts';
import { compileIntermediates, type IntermediatePolicy } from '#ca/policy/intermediates.ts';
import type { ApiDiscovery } from '#component/api-discovery.ts';
import type { Component, Controller } from '#component/contract.ts';
import { csrFairnessKey, csrRetainedFields } from '../loop/csr-fairness.ts';
import { createRequestController } from '../loop/request-controller.ts';
import { compileOncePerGeneration } from '#component/signers/compile-cache.ts';
import type { SignerSet } from '#component/signers/signer-set.ts';
import { createActor } from './act.ts';

const REQUESTS = resource(CSR_RESOURCE);

/** Reports whether a signer has requests to approve. */
export function hasRequests(spec: SignerSpec): boolean {
  return servesSigningRequests(spec);
}

/**
 * Creates a loop over the requests of the signers of a kind.
 *
 * @param discovery - for a kind that the API server may not serve
 * @param permissions - returns the rules for signers that have requests. Others need no verb
 * `approve`.
 */
export function createApproval<S extends SignerObject>(init: {
  readonly component: Component;
  readonly signers: SignerSet<S>;
  readonly discovery?: ApiDiscovery;
  readonly permissions: (served: readonly S[]) => readonly PermissionRule[];
}): Controller {
  const { component } = init;
  const policyOf: (signer: S) => RequestPolicy = compileOncePerGeneration((signer, deadline) =>
    compilePolicy(signer.spec, deadline),
  );
  const intermediatesOf: (signer: S) => IntermediatePolicy = compileOncePerGeneration(
    (signer, deadline) => compileIntermediates(signer.spec, deadline),
  );
  return createRequestController<CertificateSigningRequest, S>({
    ...init,
    kind: 'CertificateSigningRequest',
    resource: REQUESTS,
    serves: hasRequests,
    isPending: (csr) => !isApproved(csr) && !isFinished(csr),
    fairnessKeyOf: csrFairnessKey,
    retainedFields: csrRetainedFields,
    handle: createActor({ component, resource: REQUESTS, policyOf, intermediatesOf }),
    regarding: ({ apiVersion, kind, metadata: { name, uid } }) => ({
      regarding: { apiVersion, kind, name, uid },
    }),
  });
}
