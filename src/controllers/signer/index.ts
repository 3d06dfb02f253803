// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, SignerObject } from '../../api/signer/cluster-signer.ts';
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '../../api/request/csr.ts';
import type { OpenAuthority } from '../../authorities/contract.ts';
import { compileProfile } from '../../issuance/profile.ts';
import { resource, type Resource } from '../../kube/resource/resource.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { createAuthoritySources } from '../../runtime/ca/authority-sources.ts';
import { watchSigners } from '../../runtime/signers/signers.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { csrFairnessKey, csrRetainedFields } from '../../runtime/requests/csr-fairness.ts';
import type { IssuingCas } from '../../runtime/issuing/issuing-ca.ts';
import { localCas } from '../../runtime/issuing/local-ca.ts';
import { createRefusals } from '../../runtime/issuing/refusals.ts';
import { compileOncePerGeneration } from '../../runtime/signers/compile-cache.ts';
import { ignoreOlderThanSigner } from '../../runtime/requests/older-than-signer.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { createExpiries, reportExpiries } from '../../runtime/issuing/expiries.ts';
import { createRequestController } from '../../runtime/requests/request-controller.ts';
import type { SignerSet } from '../../runtime/signers/signer-set.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';

export interface SignerInit {
  readonly component: Component;
  readonly bundles: Resource;
  readonly open: OpenAuthority;
}

/** What signing CertificateSigningRequests needs, with any CA. */
export interface CsrSigningInit<S> {
  readonly component: Component;
  readonly signers: SignerSet<S>;
  readonly sources: IssuingCas<S, CertificateSigningRequest>;
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  /** How long after its creation a request is retried; undefined: without end. Milliseconds. */
  readonly maxRetryMs?: number | undefined;
  /** The request `namespace/name` is no longer pending, or its signer does not serve it any more. */
  readonly onGone?: ((key: string) => void) | undefined;
}

const WORKERS = 8;

const REQUESTS = resource(CSR_RESOURCE);

/** Signs approved CertificateSigningRequests of the signers that it serves. */
export function createSigner(init: SignerInit): Controller {
  const { component } = init;
  const sources = createAuthoritySources(component, init.bundles, init.open);
  const signers = watchSigners(component);
  const controller = createCsrSigning<ClusterSigner>({
    component,
    signers,
    sources: localCas(component, sources, createRefusals(component)),
    permissions: (served) => permissions(namesOf(served, component)),
  });
  return { ...controller, signers: signers.all };
}

/** Signs approved CertificateSigningRequests of the signers of a kind. */
export function createCsrSigning<S extends SignerObject>(init: CsrSigningInit<S>): Controller {
  const { component, sources } = init;
  const expiries = createExpiries();
  const actor = createActor<S>({
    ...{ component, expiries },
    resource: REQUESTS,
    profileOf: compileOncePerGeneration((signer: S, deadline) =>
      compileProfile(signer.spec, deadline),
    ),
    issuingOf: sources.issuing,
    refusalOf: sources.refusalOf,
    maxRetryMs: init.maxRetryMs,
  });
  const controller = createRequestController<CertificateSigningRequest, S>({
    component,
    kind: 'CertificateSigningRequest',
    resource: REQUESTS,
    workers: WORKERS,
    serves: (spec) => spec.requests !== undefined,
    isPending: (csr) => isApproved(csr) && !isFinished(csr),
    fairnessKeyOf: csrFairnessKey,
    retainedFields: csrRetainedFields,
    handle: ignoreOlderThanSigner((csr, signer) =>
      signer.spec.requests === undefined
        ? Promise.resolve({ outcome: 'ignored', reason: '' })
        : actor.handle(csr, signer),
    ),
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
