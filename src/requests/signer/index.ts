// SPDX-License-Identifier: Apache-2.0
import {
  servesSigningRequests,
  type ClusterSigner,
  type SignerObject,
} from '#api/signer/cluster-signer.ts';
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import type { OpenAuthority } from '#ca/custody/contract.ts';
import type { KeyHolder } from '#ca/custody/holder-client.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import { compileIntermediates, type IntermediatePolicy } from '#ca/policy/intermediates.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { createAuthoritySources } from '../ca/authority-sources.ts';
import { watchSigners } from '#component/signers/signers.ts';
import type { Component, Controller } from '#component/contract.ts';
import { csrFairnessKey, csrRetainedFields } from '../loop/csr-fairness.ts';
import type { IssuingCas } from '../issuing/issuing-ca.ts';
import { localCas, type LocalCaOf } from '../issuing/local-ca.ts';
import { createRefusals } from '../issuing/refusals.ts';
import { compileOncePerGeneration } from '#component/signers/compile-cache.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { createExpiries, reportExpiries } from '../issuing/expiries.ts';
import { createRequestController } from '../loop/request-controller.ts';
import type { SignerSet } from '#component/signers/signer-set.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';

export interface SignerInit {
  readonly component: Component;
  readonly bundles: Resource;
  readonly open: OpenAuthority;
  /** Has the keys of CAs that are not in Secrets. */
  readonly holder?: KeyHolder | undefined;
  /** Issues the CAs of other clusters. Absent: signers of CAs sign none. */
  readonly intermediateCa?: LocalCaOf;
}

/** Dependencies of signing CertificateSigningRequests with any CA. */
export interface CsrSigningInit<S> {
  readonly component: Component;
  readonly signers: SignerSet<S>;
  readonly sources: IssuingCas<S, CertificateSigningRequest>;
  /** Returns the rules of a signer with `spec.intermediates`. Absent for kinds without it. */
  readonly intermediatesOf?: (signer: S) => IntermediatePolicy;
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  /**
   * Milliseconds after a request's creation until which it is retried, or undefined for no limit.
   */
  readonly maxRetryMs?: number | undefined;
  /**
   * Called when the request `namespace/name` is no longer pending, or its signer does not serve it
   * any more.
   */
  readonly onGone?: ((key: string) => void) | undefined;
}

const REQUESTS = resource(CSR_RESOURCE);

/** Signs approved CertificateSigningRequests of the signers that it serves. */
export function createSigner(init: SignerInit): Controller {
  const { component } = init;
  const sources = createAuthoritySources(component, init.bundles, init.open, init.holder);
  const signers = watchSigners(component);
  const controller = createCsrSigning<ClusterSigner>({
    component,
    signers,
    sources: localCas(component, sources, createRefusals(component), init.intermediateCa),
    intermediatesOf: compileOncePerGeneration((signer, deadline) =>
      compileIntermediates(signer.spec, deadline),
    ),
    permissions: (served) => permissions(namesOf(served, component)),
  });
  return { ...controller, signers: signers.all };
}

/** Signs approved CertificateSigningRequests of the signers of a kind. */
export function createCsrSigning<S extends SignerObject>(init: CsrSigningInit<S>): Controller {
  const { component, sources } = init;
  const expiries = createExpiries();
  const actor = createActor<S>({
    component,
    expiries,
    resource: REQUESTS,
    profileOf: compileOncePerGeneration((signer: S, deadline) =>
      compileProfile(signer.spec, deadline),
    ),
    intermediatesOf: init.intermediatesOf,
    signers: init.signers,
    cas: sources,
    maxRetryMs: init.maxRetryMs,
  });
  const controller = createRequestController<CertificateSigningRequest, S>({
    component,
    kind: 'CertificateSigningRequest',
    resource: REQUESTS,
    serves: servesSigningRequests,
    isPending: (csr) => isApproved(csr) && !isFinished(csr),
    fairnessKeyOf: csrFairnessKey,
    retainedFields: csrRetainedFields,
    handle: actor.handle,
    onGone: async (key) => {
      await actor.forget(key);
      init.onGone?.(key);
    },
    regarding: ({ apiVersion, kind, metadata: { name, uid } }) => ({
      regarding: { apiVersion, kind, name, uid },
    }),
    permissions: init.permissions,
    signers: init.signers,
    sources,
  });
  return {
    ...controller,
    run: async (signal) => {
      const reports = reportExpiries(component, expiries, signal);
      await Promise.all([controller.run(signal), reports]);
    },
  };
}
