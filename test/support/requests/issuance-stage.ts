// SPDX-License-Identifier: Apache-2.0
import type { HolderRefusal } from '#ca/revocation/holders.ts';
import type { KubeObject } from '#api/object/object.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { createActor as createCertificateRequestActor } from '#requests/certificate-request/act.ts';
import { createActor as createPodActor } from '#requests/pcr-issuer/act.ts';
import type { PodEvidence } from '#requests/pcr-issuer/evidence/evidence.ts';
import { createPodReader, type PodReader } from '#requests/pcr-issuer/evidence/pod-reader.ts';
import { createRenewals, type Renewals } from '#requests/pcr-issuer/renewals.ts';
import { createActor as createCsrActor } from '#requests/signer/act.ts';
import type { RequestInit } from '#kube/client/client.ts';
import { resource } from '#kube/resource/resource.ts';
import { compileIssuerPolicy } from '#ca/policy/compile-policy.ts';
import type { LogFields } from '#base/ports.ts';
import type { Component } from '#component/contract.ts';
import type { SignerSet } from '#component/signers/signer-set.ts';
import { createExpiries } from '#requests/issuing/expiries.ts';
import type { IssuingCa } from '#requests/issuing/issuing-ca.ts';
import { localCaOf } from './local-ca.ts';
import type { RequestActor } from '#requests/issuing/actor.ts';
import type { LedgerRecorder } from '#requests/recording/recorder.ts';
import type { RequestOutcome } from '#requests/loop/outcome.ts';
import { made, type Wanted } from '../../ca/policy/request.ts';
import {
  certificateRequest,
  servicesOfTeams,
  type CertificateRequestWanted,
} from './certificate-request.ts';
import { NOW } from '../pki/chain.ts';
import { openIntermediate } from '../ca/intermediate.ts';
import { oneObject, type OneObject } from '../kube/single-object-api.ts';
import { podRequest } from './pod-certificate-request.ts';
import { readSent } from './pod-certificate-request.ts';
import { recordedComponent, type RecordedComponent } from '../component/recorded-component.ts';
import { workload, workloadProfile } from '../signers/workload-profile.ts';

const CERTIFICATES = 'certificates.k8s.io';
const CSRS = resource(CSR_RESOURCE);

/** An actor, the API server's only request, and all that was asked of the server. */
export interface Stage<T> {
  readonly server: OneObject<T>;
  /** As the cache has it. */
  readonly request: T;
  readonly signer: ClusterSigner;
  readonly requests: readonly RequestInit[];
  /** What was logged of each signature: UID and serial number. */
  readonly signed: () => readonly LogFields[];
  /** GET or PUT, in order. */
  readonly methods: () => readonly string[];
  readonly calls: () => readonly (readonly string[])[];
  /** The objects of the PUTs. */
  readonly sent: () => readonly T[];
  /** Works on the request as the cache has it: by default as it was at first. */
  readonly handle: (seen?: T, signer?: ClusterSigner) => Promise<RequestOutcome>;
  readonly later: (milliseconds: number) => void;
  /** Our clock is so far ahead of the server's, as far as the server has told. */
  readonly ahead: (milliseconds: number) => void;
  readonly forget: (key: string) => Promise<void>;
}

/** The CA: ours, asked for each look at a request; or anybody's. */
export interface By<T> {
  readonly authority?: (() => Authority) | undefined;
  readonly issuing?: (() => IssuingCa<T>) | undefined;
  /** Where the component has a ledger. */
  readonly recorder?: LedgerRecorder | undefined;
  /** The limiter of the component, where a test counts lent seats. */
  readonly concurrency?: Component['concurrency'] | undefined;
  /** The signer as it is now, asked before each delivery; by default the one that decided. */
  readonly current?: ((signer: ClusterSigner) => ClusterSigner | undefined) | undefined;
  /** Why the holder gets none, asked for each leaf. */
  readonly refusalOf?: (() => HolderRefusal | undefined) | undefined;
  /** Milliseconds; where the kind gives a request up at all. */
  readonly maxRetryMs?: number | undefined;
  /** Of CertificateRequests. Milliseconds. */
  readonly maxAgeMs?: number | undefined;
}

interface StageInit<T> {
  readonly name: string;
  readonly request: T;
  readonly signer: ClusterSigner;
  readonly by: By<T>;
  readonly actor: (
    component: RecordedComponent,
    issuingOf: () => IssuingCa<T>,
    signers: Pick<SignerSet<ClusterSigner>, 'serving'>,
  ) => RequestActor<T, ClusterSigner>;
  readonly readBody?: (body: unknown) => T;
}

/** jane's request, approved. */
export function csrStage(
  wanted: Wanted = {},
  by: By<CertificateSigningRequest> = {},
): Stage<CertificateSigningRequest> {
  return stage({
    name: 'signer',
    request: {
      ...made(wanted).csr,
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'ByHand' }] },
    },
    signer: workload(),
    by,
    actor: (component, issuingOf, signers) =>
      createCsrActor({
        component,
        resource: CSRS,
        profileOf: () => workloadProfile(),
        signers,
        cas: { issuing: issuingOf, refusalOf: by.refusalOf },
        maxRetryMs: by.maxRetryMs,
        expiries: createExpiries(),
      }),
  });
}

/** The request of pod team-a/web-0. */
export function pcrStage(
  spec: Partial<PodCertificateRequest['spec']> = {},
  by: By<PodCertificateRequest> & {
    readonly legacy?: boolean;
    readonly renewals?: Pick<Renewals, 'replaces'>;
    /** What the API server says, where the signer asks for names of Services. */
    readonly evidence?: PodEvidence;
    /** What it has stored, where its cache and the watch are late. */
    readonly stored?: PodEvidence;
    /** The rule of a signer that asks for names of Services. */
    readonly allow?: string;
    readonly recordsProofs?: boolean;
  } = {},
): Stage<PodCertificateRequest> {
  const { evidence, stored = evidence, allow = 'true', recordsProofs = false } = by;
  const naming = evidence === undefined ? {} : { pods: { allow, services: {} } };
  const pods = (version: string): typeof CSRS =>
    resource({ group: CERTIFICATES, version, plural: 'podcertificaterequests' });
  return stage({
    name: 'pcr-issuer',
    request: podRequest(spec),
    signer: workload(),
    by,
    readBody: readSent,
    actor: (component, issuingOf, signers) =>
      createPodActor({
        component,
        resource: pods('v1'),
        legacy: by.legacy === true ? pods('v1beta1') : undefined,
        profileOf: () => workloadProfile(naming),
        signers,
        cas: { issuing: issuingOf, refusalOf: by.refusalOf },
        renewals: by.renewals ?? createRenewals(createExpiries()),
        reader: readerOf(component, spec.podName ?? 'web-0', evidence, stored),
        recordsProofs,
      }),
  });
}

/** The API server's own reader; or one that has these answers. */
function readerOf(
  component: Component,
  name: string,
  evidence?: PodEvidence,
  stored?: PodEvidence,
): PodReader {
  const reader = createPodReader(component, () => ({
    regarding: { apiVersion: 'v1', kind: 'Pod', name },
  }));
  if (evidence === undefined) return reader;
  return Object.assign(reader, {
    gather: () => Promise.resolve(evidence),
    gatherStored: () => Promise.resolve(stored),
    confirm: () => Promise.resolve(undefined),
  });
}

/** cert-manager's request for web.team-a.svc, approved. */
export function certificateRequestStage(
  wanted: CertificateRequestWanted = {},
  by: By<CertificateRequest> = {},
): Stage<CertificateRequest> {
  return stage({
    name: 'certificate-request',
    request: certificateRequest(wanted),
    signer: servicesOfTeams(),
    by,
    actor: (component, issuingOf, signers) =>
      createCertificateRequestActor<ClusterSigner>({
        component,
        resource: resource(CERTIFICATE_REQUEST_RESOURCE),
        profileOf: () => workloadProfile(),
        policyOf: ({ spec }) => compileIssuerPolicy(spec),
        signers,
        cas: { issuing: issuingOf, refusalOf: by.refusalOf },
        maxRetryMs: by.maxRetryMs,
        maxAgeMs: by.maxAgeMs,
      }),
  });
}

/** Seven tenths of a second past {@link NOW}: times are written in whole seconds. */
function stage<T extends KubeObject>(init: StageInit<T>): Stage<T> {
  const { name, request, signer, by, readBody = (body) => body as T } = init;
  const { authority = openIntermediate, current = (each: ClusterSigner) => each } = by;
  const server = oneObject(request, readBody);
  let now = NOW + 700;
  let offset = 0;
  let decidedBy = signer;
  const component = recordedComponent({
    name,
    clock: () => now,
    recorder: by.recorder,
    ...(by.concurrency === undefined ? {} : { concurrency: by.concurrency }),
  });
  const client = Object.assign(component.client, { clockOffset: () => offset });
  client.answer(server.answer);
  const issuingOf = by.issuing ?? (() => localCaOf(component, authority()));
  const actor = init.actor(component, issuingOf, { serving: () => current(decidedBy) });
  return {
    server,
    request,
    signer,
    requests: client.requests,
    signed: () =>
      component.log.lines.flatMap(({ message, fields }) => (message === 'signed' ? [fields] : [])),
    methods: () => client.requests.map(({ method }) => method),
    calls: () => client.requests.map(({ method, path }) => [method, path]),
    sent: () =>
      client.requests.filter(({ method }) => method === 'PUT').map(({ body }) => readBody(body)),
    handle: (seen = request, by = signer) => {
      decidedBy = by;
      return actor.handle(seen, by);
    },
    later: (milliseconds) => {
      now += milliseconds;
    },
    ahead: (milliseconds) => {
      now += milliseconds - offset;
      offset = milliseconds;
    },
    forget: actor.forget,
  };
}
