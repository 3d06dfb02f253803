// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner, SignerObject } from '#api/signer/cluster-signer.ts';
import { isTerminal, type PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import {
  UNLESS_ANSWERED,
  readPodCertificateRequest,
} from '#api/request/pod-certificate-request-message.ts';
import type { OpenAuthority } from '#ca/custody/contract.ts';
import type { KeyHolder } from '#ca/custody/holder-client.ts';
import { compileProfile } from '#ca/issuance/profile.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { LedgerReader } from '#ledger/sender/reader.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createAuthoritySources } from '../ca/authority-sources.ts';
import { watchSigners } from '#component/signers/signers.ts';
import type { Component, Controller } from '#component/contract.ts';
import type { IssuingCas } from '../issuing/issuing-ca.ts';
import { localCas } from '../issuing/local-ca.ts';
import { createRefusals } from '../issuing/refusals.ts';
import { compileOncePerGeneration } from '#component/signers/compile-cache.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { createExpiries, reportExpiries } from '../issuing/expiries.ts';
import { createRequestController } from '../loop/request-controller.ts';
import { serverTime } from '#component/server-time.ts';
import { bySignerNameAndNamespace, type SignerSet } from '#component/signers/signer-set.ts';
import { createActor } from './act.ts';
import { permissions } from './permissions.ts';
import { createPodReader, type PodReader } from './evidence/pod-reader.ts';
import { createPcrFairness } from './fairness.ts';
import { createRenewals } from './renewals.ts';

export interface PcrIssuerInit {
  readonly component: Component;
  /** PodCertificateRequests in the newest version that the server has. */
  readonly requests: Resource;
  /** PodCertificateRequests in v1beta1, if the server has both. */
  readonly legacy: Resource | undefined;
  readonly bundles: Resource;
  readonly open: OpenAuthority;
  /** Has the keys of CAs that are not in Secrets. */
  readonly holder?: KeyHolder | undefined;
  /** Shows events before the start. If absent, only those that this process saw count. */
  readonly ledger?: LedgerReader | undefined;
}

/** Enough writes in flight to keep one core of signing busy. 16 reach the API server's limit. */
const POD_WORKERS = 24;

/** Dependencies of issuing PodCertificateRequests with any CA. */
export interface PodIssuingInit<S> extends Pick<
  PcrIssuerInit,
  'component' | 'requests' | 'legacy'
> {
  readonly signers: SignerSet<S>;
  readonly sources: IssuingCas<S, PodCertificateRequest>;
  readonly ledger?: LedgerReader | undefined;
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
}

/** Issues, denies and fails PodCertificateRequests of the signers that it serves. */
export function createPcrIssuer(init: PcrIssuerInit): Controller {
  const { component } = init;
  const sources = createAuthoritySources(component, init.bundles, init.open, init.holder);
  const signers = watchSigners(component);
  const controller = createPodIssuing<ClusterSigner>({
    ...init,
    signers,
    sources: localCas(component, sources, createRefusals(component)),
    permissions: (served) =>
      permissions({ ...namesOf(served, component), ledgerFacts: init.ledger !== undefined }),
  });
  return { ...controller, signers: signers.all };
}

/** Issues, denies and fails PodCertificateRequests of the signers of a kind. */
export function createPodIssuing<S extends SignerObject>(init: PodIssuingInit<S>): Controller {
  const { component } = init;
  const reader = createPodReader(component, regarding, init.ledger);
  const sources = withServices(init.sources, reader);
  const expiries = createExpiries();
  const renewals = createRenewals(expiries);
  const actor = createActor<S>({
    component,
    reader,
    renewals,
    recordsProofs: init.ledger !== undefined,
    resource: init.requests,
    legacy: init.legacy,
    profileOf: compileOncePerGeneration((signer: S, deadline) =>
      compileProfile(signer.spec, deadline),
    ),
    signers: init.signers,
    cas: sources,
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
    // The signer's own scope decides, whichever program issues. A namespaced signer never answers
    // other namespaces.
    selectionOf: bySignerNameAndNamespace,
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

/** Adds Services to the sources that requests may wait for. */
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

/**
 * Returns the pod as subject of Events, since users describe pods and PodCertificateRequests are
 * deleted after 15 minutes.
 */
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
