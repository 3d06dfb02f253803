// SPDX-License-Identifier: Apache-2.0
import { findCondition, hasTrueCondition, type Condition } from '#api/request/conditions.ts';
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  isApproved as isIssuerApproved,
  isDenied as isIssuerDenied,
  isFinished as isIssuerFinished,
  withSpec,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { namedIssuer } from '#api/acme/named-issuer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { GROUP } from '#api/signer/cluster-signer.ts';
import type { Client } from '#kube/client/client.ts';
import { isCertManagerServed } from '#operations/cert-manager-served.ts';
import { compileFailureJudge, type FailureJudge } from '../../request-refusals.ts';
import type { AcmeFacts, SignerFacts, WaitingRequest } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { managedNames } from '../managed-names.ts';
import {
  discoveryPermission,
  listVisible,
  listVisibleVersion,
  mapSeen,
  see,
} from './list-visible.ts';

/** The fields that are read of a PodCertificateRequest. */
interface PodRequest extends KubeObject {
  readonly spec: { readonly signerName: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Lists the pending requests to signers of this installation. */
export async function readRequests(
  client: Client,
  signers: ReadResult<SignerFacts>,
  acme: ReadResult<AcmeFacts>,
): Promise<ReadResult<readonly WaitingRequest[]>> {
  if (!('value' in signers)) return signers;
  const isManaged = managedNames(signers.value);
  const ofAcme = 'value' in acme ? acme.value.signers : [];
  const acmeNames = new Set(ofAcme.map(({ spec }) => spec.signerName));
  const [signing, pods, issuing] = await Promise.all([
    listVisible<CertificateSigningRequest & KubeObject, CertificateSigningRequest>(
      client,
      CSR_RESOURCE,
      (csr) => {
        const { signerName } = csr.spec;
        // After approval, acme-orders-progress reports what its Order waits for.
        const isOfAcme = acmeNames.has(signerName) && !isApproved(csr);
        return (isManaged(signerName) || isOfAcme) && !isFinished(csr) ? [csr] : [];
      },
    ),
    readPodRequests(client, isManaged),
    readIssuerRequests(client, signers.value),
  ]);
  if (!('value' in signing)) return signing;
  if (!('value' in pods)) return pods;
  const waiting = judged(signing.value, signers.value);
  return mapSeen(issuing, (found) => [...waiting, ...pods.value, ...found]);
}

/**
 * Limit on judged requests, the newest first: their requesters still look. Each costs milliseconds,
 * to verify its signature.
 */
const MAX_JUDGED = 50;

/** Adds what the signer would answer after an approval, by the judge of the components. */
function judged(
  all: readonly CertificateSigningRequest[],
  { states }: SignerFacts,
): readonly WaitingRequest[] {
  const judges = new Map<string, FailureJudge>();
  const failureOf = (csr: CertificateSigningRequest): string | undefined => {
    const { signerName } = csr.spec;
    const state = states.find(({ signer }) => signer.spec.signerName === signerName);
    if (state === undefined) return undefined;
    const judge = judges.get(signerName) ?? compileFailureJudge(state.signer.spec);
    judges.set(signerName, judge);
    return judge(csr)?.message;
  };
  return all
    .toSorted((a, b) => createdAt(b) - createdAt(a))
    .map((csr, index) => waitingCsr(csr, index < MAX_JUDGED ? failureOf(csr) : undefined));
}

function createdAt({ metadata }: CertificateSigningRequest): number {
  return Date.parse(metadata.creationTimestamp);
}

function readPodRequests(
  client: Client,
  isManaged: (signerName: string) => boolean,
): Promise<ReadResult<readonly WaitingRequest[]>> {
  return listVisibleVersion<PodRequest, WaitingRequest>(
    client,
    'podcertificaterequests',
    (request) =>
      isManaged(request.spec.signerName) && !isAnswered(request) ? [waitingPod(request)] : [],
  );
}

/**
 * Lists the approved CertificateRequests of cert-manager without an answer. It skips those of ACME
 * signers: acme-orders-progress reports the causes of their Orders.
 */
async function readIssuerRequests(
  client: Client,
  signers: SignerFacts,
): Promise<ReadResult<readonly WaitingRequest[]>> {
  // Without cert-manager the API server answers 403 to a user who may not list its objects.
  const served = await see(discoveryPermission(CERTIFICATE_REQUEST_RESOURCE.group), () =>
    isCertManagerServed(client),
  );
  if (!('value' in served)) return served;
  if (!served.value) return { value: [] };
  return listVisible<CertificateRequest & KubeObject, WaitingRequest>(
    client,
    CERTIFICATE_REQUEST_RESOURCE,
    (stored) => {
      const request = withSpec(stored);
      const waits =
        isIssuerApproved(request) && !isIssuerDenied(request) && !isIssuerFinished(request);
      return waits && request.spec.issuerRef.group === GROUP
        ? [waitingIssuerRequest(request, signers)]
        : [];
    },
  );
}

function waitingIssuerRequest(request: CertificateRequest, signers: SignerFacts): WaitingRequest {
  const { name, namespace, creationTimestamp } = request.metadata;
  const { status } = request;
  const cause = findCondition(status?.conditions, 'Ready')?.message;
  const approved = findCondition(status?.conditions, 'Approved')?.lastTransitionTime;
  return {
    object: `certificaterequest/${name}`,
    ...(namespace === undefined ? {} : { namespace }),
    signerName: issuerOf(request, signers),
    since: Date.parse(approved ?? creationTimestamp),
    waitsForApproval: false,
    ...(cause === undefined ? {} : { cause }),
  };
}

/** Returns the signer name of the request's issuer, or the issuer itself if it is not known. */
function issuerOf({ metadata, spec }: CertificateRequest, { states }: SignerFacts): string {
  const { name, kind } = namedIssuer(spec.issuerRef);
  const namespace = kind === 'Signer' ? metadata.namespace : undefined;
  const state = states.find(
    ({ signer }) => signer.metadata.name === name && signer.metadata.namespace === namespace,
  );
  return state?.signer.spec.signerName ?? `${kind} ${name}`;
}

function waitingCsr(csr: CertificateSigningRequest, wouldFail: string | undefined): WaitingRequest {
  const { metadata, spec, status } = csr;
  const approved = findCondition(status?.conditions, 'Approved')?.lastTransitionTime;
  return {
    object: `certificatesigningrequest/${metadata.name}`,
    signerName: spec.signerName,
    since: Date.parse(approved ?? metadata.creationTimestamp),
    waitsForApproval: !isApproved(csr),
    ...(wouldFail === undefined ? {} : { wouldFail }),
  };
}

function isAnswered({ status }: PodRequest): boolean {
  return ['Issued', 'Denied', 'Failed'].some((type) => hasTrueCondition(status?.conditions, type));
}

function waitingPod({ metadata, spec }: PodRequest): WaitingRequest {
  return {
    object: `podcertificaterequest/${metadata.name}`,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    signerName: spec.signerName,
    since: Date.parse(metadata.creationTimestamp),
    waitsForApproval: false,
  };
}
