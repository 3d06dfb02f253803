// SPDX-License-Identifier: Apache-2.0
import {
  CERTIFICATE_REQUEST_RESOURCE,
  isApproved,
  isDenied,
  isFinished,
  type CertificateRequest,
} from '../../api/request/certificate-request.ts';
import { GROUP, type ClusterSigner, type SignerObject } from '../../api/signer/cluster-signer.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import type { OpenAuthority } from '../../authorities/contract.ts';
import { compileProfile } from '../../issuance/profile.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import { resource, type Resource } from '../../kube/resource/resource.ts';
import { compileCertificateRequestPolicy } from '../../policy/compile-policy.ts';
import { createAuthoritySources } from '../../runtime/ca/authority-sources.ts';
import { namespaceFlow } from '../../runtime/component/charged.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import type { IssuingCas } from '../../runtime/issuing/issuing-ca.ts';
import { localCas } from '../../runtime/issuing/local-ca.ts';
import { createRefusals } from '../../runtime/issuing/refusals.ts';
import { compileOncePerGeneration } from '../../runtime/signers/compile-cache.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { createApiDiscovery } from '../../runtime/component/api-discovery.ts';
import { createRequestController } from '../../runtime/requests/request-controller.ts';
import { watchSigners } from '../../runtime/signers/signers.ts';
import type { RequestSelector, SignerSet } from '../../runtime/signers/signer-set.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';

export interface CertificateRequestInit {
  readonly component: Component;
  readonly bundles: Resource;
  readonly open: OpenAuthority;
}

/** What signing CertificateRequests needs, with any CA. */
export interface CertificateRequestSigningInit<S> {
  readonly component: Component;
  readonly signers: SignerSet<S>;
  readonly sources: IssuingCas<S, CertificateRequest>;
  /** The requests whose `issuerRef` names this signer. */
  readonly selectionOf: (signer: S) => RequestSelector;
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  /** How long after its creation a request is retried; undefined: without end. Milliseconds. */
  readonly maxRetryMs?: number | undefined;
  /** The request `namespace/name` is no longer pending, or its signer does not serve it any more. */
  readonly onGone?: ((key: string) => void) | undefined;
  /** Whether a write of its own shows that a request is in progress before it is answered. */
  readonly shows?: boolean;
}

const WORKERS = 8;

const REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** Answers cert-manager's CertificateRequests whose issuerRef names a signer that it serves. */
export function createCertificateRequest(init: CertificateRequestInit): Controller {
  const { component } = init;
  const sources = createAuthoritySources(component, init.bundles, init.open);
  const signers = watchSigners(component);
  const controller = createCertificateRequestSigning<ClusterSigner>({
    component,
    signers,
    sources: localCas(component, sources, createRefusals(component)),
    selectionOf: (signer) => {
      const { name, namespace } = signer.metadata;
      const kind = isNamespaced(signer) ? 'Signer' : 'ClusterSigner';
      return issuerSelection({ group: GROUP, kind, name, namespace });
    },
    permissions: (served) => permissions(namesOf(served, component)),
  });
  return { ...controller, signers: signers.all };
}

/** Answers CertificateRequests of the signers of a kind. Waits while cert-manager is not installed. */
export function createCertificateRequestSigning<S extends SignerObject>(
  init: CertificateRequestSigningInit<S>,
): Controller {
  const { component, sources } = init;
  const actor = createActor<S>({
    component,
    resource: REQUESTS,
    profileOf: compileOncePerGeneration((signer: S, deadline) =>
      compileProfile(signer.spec, deadline),
    ),
    policyOf: compileOncePerGeneration((signer: S, deadline) =>
      compileCertificateRequestPolicy(signer.spec, deadline),
    ),
    issuingOf: sources.issuing,
    refusalOf: sources.refusalOf,
    maxRetryMs: init.maxRetryMs,
  });
  const presence = createApiDiscovery(component, REQUESTS);
  return createRequestController<CertificateRequest, S>({
    component,
    kind: 'CertificateRequest',
    resource: REQUESTS,
    workers: WORKERS,
    serves: (spec) => spec.certificateRequests !== undefined,
    selectionOf: init.selectionOf,
    discovery: presence,
    isPending: (request) => !isFinished(request) && (isApproved(request) || isDenied(request)),
    // A namespace is a tenant; the requester is cert-manager itself, for all of them.
    fairnessKeyOf: (request) => ({ distinguishers: [namespaceFlow(request)] }),
    retainedFields: () => ({}),
    begin: init.shows === true ? actor.begin : undefined,
    handle: actor.handle,
    onGone: async (key) => {
      await actor.forget(key);
      init.onGone?.(key);
    },
    regarding: ({ apiVersion, kind, metadata: { namespace = '', name, uid } }) => ({
      regarding: { apiVersion, kind, namespace, name, uid },
    }),
    permissions: init.permissions,
    signers: init.signers,
    sources,
  });
}

/**
 * The server filters: the CRD lists these as selectableFields. We set no default for group and kind.
 *
 * @param issuer - with a namespace: requests in other namespaces do not count, whatever they name
 */
export function issuerSelection(issuer: {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}): RequestSelector {
  const { group, kind, name, namespace } = issuer;
  const fieldSelector = [
    `spec.issuerRef.group=${group}`,
    `spec.issuerRef.kind=${kind}`,
    `spec.issuerRef.name=${name}`,
  ].join(',');
  return { fieldSelector, namespace };
}
