// SPDX-License-Identifier: Apache-2.0
import {
  CERTIFICATE_REQUEST_RESOURCE,
  isApproved,
  isDenied,
  isFinished,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { GROUP, type ClusterSigner, type SignerObject } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import type { OpenAuthority } from '#ca/custody/contract.ts';
import type { KeyHolder } from '#ca/custody/holder-client.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { compileIssuerPolicy } from '#ca/policy/compile-policy.ts';
import { createAuthoritySources } from '../ca/authority-sources.ts';
import { namespaceFlow } from '#component/cpu-accounting.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { IssuingCas } from '../issuing/issuing-ca.ts';
import { localCas } from '../issuing/local-ca.ts';
import { createRefusals } from '../issuing/refusals.ts';
import { compileOncePerGeneration } from '#component/signers/compile-cache.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { createApiDiscovery } from '#component/api-discovery.ts';
import { createRequestController } from '../loop/request-controller.ts';
import { watchSigners } from '#component/signers/signers.ts';
import type { RequestSelector, SignerSet } from '#component/signers/signer-set.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';

/** Dependencies of answering requests with our own CAs. */
export interface CertificateRequestInit {
  /** True to show progress by a separate write before the answer. */
  readonly shows?: boolean;
  /**
   * Maximum age in milliseconds of a request that no rule allows, or undefined for any age.
   */
  readonly maxAgeMs?: number | undefined;
  readonly component: Component;
  readonly bundles: Resource;
  readonly open: OpenAuthority;
  /** Has the keys of CAs that are not in Secrets. */
  readonly holder?: KeyHolder | undefined;
}

/** Dependencies of signing CertificateRequests with any CA. */
export interface CertificateRequestSigningInit<S> {
  readonly component: Component;
  readonly signers: SignerSet<S>;
  readonly sources: IssuingCas<S, CertificateRequest>;
  /** Selects the requests whose `issuerRef` names this signer. */
  readonly selectionOf: (signer: S) => RequestSelector;
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  /**
   * Milliseconds after a request's creation until which it is retried, or undefined for no limit.
   */
  readonly maxRetryMs?: number | undefined;
  /**
   * Maximum age in milliseconds of a request that no rule allows, or undefined for any age.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * Called when the request `namespace/name` is no longer pending, or its signer does not serve it
   * any more.
   */
  readonly onGone?: ((key: string) => void) | undefined;
  /** True to show progress by a separate write before the answer. */
  readonly shows?: boolean;
  /** False to leave Ready unchanged while a request waits. Default: true. */
  readonly showsWaiting?: boolean;
}

const REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** Handles cert-manager's CertificateRequests whose issuerRef names a served signer. */
export function createCertificateRequest(init: CertificateRequestInit): Controller {
  const { component } = init;
  const sources = createAuthoritySources(component, init.bundles, init.open, init.holder);
  const signers = watchSigners(component);
  const controller = createIssuerSigning<ClusterSigner>({
    component,
    signers,
    sources: localCas(component, sources, createRefusals(component)),
    selectionOf: (signer) => {
      const { name, namespace } = signer.metadata;
      const kind = isNamespaced(signer) ? 'Signer' : 'ClusterSigner';
      return issuerSelection({ group: GROUP, kind, name, namespace });
    },
    permissions: (served) => permissions(namesOf(served, component)),
    shows: init.shows ?? false,
    maxAgeMs: init.maxAgeMs,
  });
  return { ...controller, signers: signers.all };
}

/**
 * Handles CertificateRequests of the signers of a kind. Waits while cert-manager is not installed.
 */
export function createIssuerSigning<S extends SignerObject>(
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
      compileIssuerPolicy(signer.spec, deadline),
    ),
    signers: init.signers,
    cas: sources,
    maxRetryMs: init.maxRetryMs,
    maxAgeMs: init.maxAgeMs,
  });
  const presence = createApiDiscovery(component, REQUESTS);
  return createRequestController<CertificateRequest, S>({
    component,
    kind: 'CertificateRequest',
    resource: REQUESTS,
    serves: (spec) => spec.certificateRequests !== undefined,
    selectionOf: init.selectionOf,
    discovery: presence,
    isPending: (request) => !isFinished(request) && (isApproved(request) || isDenied(request)),
    // A namespace is a tenant. The requester of all of them is cert-manager itself.
    fairnessKeyOf: (request) => ({ distinguishers: [namespaceFlow(request)] }),
    retainedFields: () => ({}),
    begin: init.shows === true ? actor.begin : undefined,
    handle: actor.handle,
    showWaiting: init.showsWaiting === false ? undefined : actor.showWaiting,
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
 * Returns a selector that the API server evaluates, since the CRD lists these as selectableFields.
 * Countersign sets no default for group and kind.
 *
 * @param issuer - with a namespace, requests in other namespaces do not count
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
