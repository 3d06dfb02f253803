// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '../../api/request/csr.ts';
import { resource } from '../../kube/resource/resource.ts';
import { compilePolicy, type RequestPolicy } from '../../policy/compile-policy.ts';
import { watchSigners } from '../../runtime/signers/signers.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { compileOncePerGeneration } from '../../runtime/signers/compile-cache.ts';
import { ignoreOlderThanSigner } from '../../runtime/requests/older-than-signer.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { createRequestController } from '../../runtime/requests/request-controller.ts';
import { csrFairnessKey, csrRetainedFields } from '../../runtime/requests/csr-fairness.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';

const WORKERS = 8;

const REQUESTS = resource(CSR_RESOURCE);

/** Approves and denies CertificateSigningRequests by the rules of their signer. */
export function createApprover(component: Component): Controller {
  const policyOf: (signer: ClusterSigner) => RequestPolicy = compileOncePerGeneration(
    (signer, deadline) => compilePolicy(signer.spec, deadline),
  );
  const signers = watchSigners(component);
  const controller = createRequestController<CertificateSigningRequest, ClusterSigner>({
    component,
    kind: 'CertificateSigningRequest',
    resource: REQUESTS,
    workers: WORKERS,
    serves: (spec) => spec.requests !== undefined,
    isPending: (csr) => !isApproved(csr) && !isFinished(csr),
    fairnessKeyOf: csrFairnessKey,
    retainedFields: csrRetainedFields,
    handle: ignoreOlderThanSigner(createActor({ component, resource: REQUESTS, policyOf })),
    regarding: ({ apiVersion, kind, metadata: { name, uid } }) => ({
      regarding: { apiVersion, kind, name, uid },
    }),
    permissions: (served) => permissions(namesOf(served, component)),
    signers,
  });
  return { ...controller, signers: signers.all };
}
