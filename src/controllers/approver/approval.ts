// SPDX-License-Identifier: Apache-2.0
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '../../api/request/csr.ts';
import type { SignerObject, SignerSpec } from '../../api/signer/cluster-signer.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { resource } from '../../kube/resource/resource.ts';
import { compilePolicy, type RequestPolicy } from '../../policy/compile-policy.ts';
import type { ApiDiscovery } from '../../runtime/component/api-discovery.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { csrFairnessKey, csrRetainedFields } from '../../runtime/requests/csr-fairness.ts';
import { ignoreOlderThanSigner } from '../../runtime/requests/older-than-signer.ts';
import { createRequestController } from '../../runtime/requests/request-controller.ts';
import { compileOncePerGeneration } from '../../runtime/signers/compile-cache.ts';
import type { SignerSet } from '../../runtime/signers/signer-set.ts';
import { createActor } from './act.ts';

const WORKERS = 8;

const REQUESTS = resource(CSR_RESOURCE);

/** Whether a signer has requests that are approved. */
export function hasRequests(spec: SignerSpec): boolean {
  return spec.requests !== undefined;
}

/**
 * A loop over the requests of the signers of a kind.
 *
 * @param discovery - for a kind that the API server may not serve
 * @param permissions - what it needs for the signers that have requests: the others need no verb `approve`
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
  return createRequestController<CertificateSigningRequest, S>({
    ...init,
    kind: 'CertificateSigningRequest',
    resource: REQUESTS,
    workers: WORKERS,
    serves: hasRequests,
    isPending: (csr) => !isApproved(csr) && !isFinished(csr),
    fairnessKeyOf: csrFairnessKey,
    retainedFields: csrRetainedFields,
    handle: ignoreOlderThanSigner(createActor({ component, resource: REQUESTS, policyOf })),
    regarding: ({ apiVersion, kind, metadata: { name, uid } }) => ({
      regarding: { apiVersion, kind, name, uid },
    }),
  });
}
