// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, SignerObject } from '../../api/signer/cluster-signer.ts';
import {
  isTerminal,
  type PodCertificateRequest,
} from '../../api/request/pod-certificate-request.ts';
import {
  UNLESS_ANSWERED,
  readPodCertificateRequest,
} from '../../api/request/pod-certificate-request-message.ts';
import type { OpenAuthority } from '../../authorities/contract.ts';
import { compileProfile } from '../../issuance/profile.ts';
import type { EventDetails } from '../../kube/events/body.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { createAuthoritySources } from '../../runtime/ca/authority-sources.ts';
import { watchSigners } from '../../runtime/signers/signers.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import type { IssuingCas } from '../../runtime/issuing/issuing-ca.ts';
import { localCas } from '../../runtime/issuing/local-ca.ts';
import { createRefusals } from '../../runtime/issuing/refusals.ts';
import { compileOncePerGeneration } from '../../runtime/signers/compile-cache.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { createExpiries, reportExpiries } from '../../runtime/issuing/expiries.ts';
import { createRequestController } from '../../runtime/requests/request-controller.ts';
import { serverTime } from '../../runtime/component/server-time.ts';
import {
  bySignerNameAndNamespace,
  type RequestSelector,
  type SignerSet,
} from '../../runtime/signers/signer-set.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';
import { createPodReader, type PodReader } from './evidence/pod-reader.ts';
import { createPcrFairness } from './fairness.ts';
import { createRenewals } from './renewals.ts';

export interface PcrIssuerInit {
  readonly component: Component;
  /** PodCertificateRequests in the newest version that the server has. */
  readonly requests: Resource;
  /** The same in v1beta1, if the server has both. */
  readonly legacy: Resource | undefined;
  readonly bundles: Resource;
  readonly open: OpenAuthority;
  /** Whether what happened before the start is read from the ledger; default: no. */
  readonly ledgerFacts?: boolean;
}

/** Enough writes in flight to keep one core of signing busy (design §6: 16 reach the server's limit). */
const POD_WORKERS = 24;

/** What issuing PodCertificateRequests needs, with any CA. */
export interface PodIssuingInit<S> extends Pick<
  PcrIssuerInit,
  'component' | 'requests' | 'legacy'
> {
  readonly signers: SignerSet<S>;
  readonly sources: IssuingCas<S, PodCertificateRequest>;
  /** Default: no. */
  readonly ledgerFacts?: boolean;
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  /** Selects the requests of a signer; default: those of its signer name, in all namespaces. */
  readonly selectionOf?: (signer: S) => RequestSelector;
}

/** Issues, denies and fails PodCertificateRequests of the signers that it serves. */
export function createPcrIssuer(init: PcrIssuerInit): Controller {
  const { component } = init;
  const sources = createAuthoritySources(component, init.bundles, init.open);
  const signers = watchSigners(component);
  const controller = createPodIssuing<ClusterSigner>({
    ...init,
    signers,
    sources: localCas(component, sources, createRefusals(component)),
    permissions: (served) =>
      permissions({ ...namesOf(served, component), ledgerFacts: init.ledgerFacts }),
    selectionOf: bySignerNameAndNamespace,
  });
  return { ...controller, signers: signers.all };
}

/** Issues, denies and fails PodCertificateRequests of the signers of a kind. */
export function createPodIssuing<S extends SignerObject>(init: PodIssuingInit<S>): Controller {
  const { component } = init;
  const reader = createPodReader(component, regarding, init.ledgerFacts);
  const sources = withServices(init.sources, reader);
  const expiries = createExpiries();
  const renewals = createRenewals(expiries);
  const actor = createActor<S>({
    ...{ component, reader, renewals, recordsProofs: init.ledgerFacts === true },
    resource: init.requests,
    legacy: init.legacy,
    profileOf: compileOncePerGeneration((signer: S, deadline) =>
      compileProfile(signer.spec, deadline),
    ),
    issuingOf: sources.issuing,
    refusalOf: sources.refusalOf,
  });
  const place = createPcrFairness(renewals, () => serverTime(component));
  const controller = createRequestController<PodCertificateRequest, S>({
    component,
    kind: 'PodCertificateRequest',
    resource: init.requests,
    workers: POD_WORKERS,
    serves: (spec) => spec.pods !== undefined,
    isPending: (request) => !isTerminal(request),
    fairnessKeyOf: place.keyOf,
    retainedFields: place.retainedFields,
    onFinished: place.finished,
    readMessage: (type, raw) => readPodCertificateRequest(type, raw, UNLESS_ANSWERED),
    handle: actor.handle,
    onGone: async (key) => {
      reader.forget(key);
      await actor.forget(key);
    },
    regarding,
    ...(init.selectionOf === undefined ? {} : { selectionOf: init.selectionOf }),
    permissions: init.permissions,
    signers: init.signers,
    sources,
  });
  return {
    ...controller,
    warnings: () => [...(controller.warnings?.() ?? []), ...reader.warnings()],
    run: async (signal) => {
      const reports = reportExpiries(component, expiries, signal);
      await Promise.all([controller.run(signal), reader.run(signal), reports]);
    },
  };
}

/** Besides the CAs of signers, their requests may wait for Services. */
function withServices<S extends SignerObject>(
  sources: IssuingCas<S, PodCertificateRequest>,
  reader: PodReader,
): IssuingCas<S, PodCertificateRequest> {
  return {
    ...sources,
    serve: (signers) => {
      sources.serve(signers);
      reader.serve(signers);
    },
    onAnswer: (listener) => {
      sources.onAnswer?.(listener);
      reader.onAnswer(listener);
    },
    notReady: () => [...sources.notReady(), ...reader.notReady()],
    stop: async () => {
      await Promise.all([sources.stop(), reader.stop()]);
    },
  };
}

/** Users describe pods; PodCertificateRequests are deleted after 15 minutes. */
function regarding(request: PodCertificateRequest): Pick<EventDetails, 'regarding' | 'related'> {
  const { metadata, spec, apiVersion } = request;
  const namespace = metadata.namespace ?? '';
  return {
    regarding: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace,
      name: spec.podName,
      uid: spec.podUID,
    },
    related: {
      apiVersion,
      kind: 'PodCertificateRequest',
      namespace,
      name: metadata.name,
      uid: metadata.uid,
    },
  };
}
