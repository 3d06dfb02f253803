// SPDX-License-Identifier: Apache-2.0
import {
  CERT_MANAGER_GROUP,
  CERT_MANAGER_VERSION,
  isApproved,
  isDenied,
  isFinished,
  type CertificateRequest,
} from '../../api/certificate-request.ts';
import { GROUP, type ClusterSigner } from '../../api/cluster-signer.ts';
import type { OpenAuthority } from '../../authorities/contract.ts';
import { compileProfile } from '../../issuance/profile.ts';
import { resource, type Resource } from '../../kube/resource.ts';
import { compileCertificateRequestPolicy } from '../../policy/compile-policy.ts';
import { createAuthoritySources } from '../../serving/authority-sources.ts';
import type { Component, Controller } from '../../serving/component.ts';
import { watchClusterSigners } from '../../serving/cluster-signer-set.ts';
import { localSources } from '../../serving/local-issuing.ts';
import { memoByGeneration } from '../../serving/memo.ts';
import { namesOf } from '../../serving/permission-names.ts';
import { createPresence } from '../../serving/presence.ts';
import { createRequestController } from '../../serving/request-controller.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';

export interface CertificateRequestInit {
  readonly component: Component;
  readonly bundles: Resource;
  readonly open: OpenAuthority;
}

const WORKERS = 8;

export const REQUESTS = resource({
  group: CERT_MANAGER_GROUP,
  version: CERT_MANAGER_VERSION,
  plural: 'certificaterequests',
});

/** Answers cert-manager's CertificateRequests whose issuerRef names a ClusterSigner that it serves. */
export function createCertificateRequest(init: CertificateRequestInit): Controller {
  const { component } = init;
  const sources = localSources(
    component,
    createAuthoritySources(component, init.bundles, init.open),
  );
  const actor = createActor<ClusterSigner>({
    component,
    resource: REQUESTS,
    profileOf: memoByGeneration((signer: ClusterSigner) => compileProfile(signer.spec)),
    policyOf: memoByGeneration((signer: ClusterSigner) =>
      compileCertificateRequestPolicy(signer.spec),
    ),
    issuingOf: sources.issuing,
  });
  const presence = createPresence(component, REQUESTS);
  const controller = createRequestController<CertificateRequest, ClusterSigner>({
    component,
    kind: 'CertificateRequest',
    resource: REQUESTS,
    workers: WORKERS,
    serves: (spec) => spec.certificateRequests !== undefined,
    selectorOf,
    presence,
    pending: (request) => !isFinished(request) && (isApproved(request) || isDenied(request)),
    // A namespace is a tenant; who asks is cert-manager itself, for all of them.
    placeOf: ({ metadata: { namespace = '' } }) => ({ flows: [`namespace ${namespace}`] }),
    stays: () => ({}),
    handle: actor.handle,
    onGone: actor.forget,
    regarding: ({ apiVersion, kind, metadata: { namespace = '', name, uid } }) => ({
      regarding: { apiVersion, kind, namespace, name, uid },
    }),
    permissions: (served) => permissions(namesOf(served, component)),
    signers: watchClusterSigners(component),
    sources,
  });
  return { ...controller, warnings: () => presence.warnings() };
}

/** The server filters: the CRD lists these as selectableFields. Group and kind have no default of ours. */
function selectorOf({ metadata: { name } }: ClusterSigner): string {
  return [
    `spec.issuerRef.group=${GROUP}`,
    'spec.issuerRef.kind=ClusterSigner',
    `spec.issuerRef.name=${name}`,
  ].join(',');
}
