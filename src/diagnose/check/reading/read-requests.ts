// SPDX-License-Identifier: Apache-2.0
import { findCondition, hasTrueCondition, type Condition } from '#api/request/conditions.ts';
import {
  CSR_RESOURCE,
  isApproved,
  isFinished,
  type CertificateSigningRequest,
} from '#api/request/csr.ts';
import type { KubeObject } from '#api/object/object.ts';
import { isDerivedName } from '#api/signer/signer.ts';
import { certificatesResourceIfServed } from '#component/certificates-resources.ts';
import type { Client } from '#kube/client/client.ts';
import type { AcmeFacts, SignerFacts, WaitingRequest } from '../facts.ts';
import type { Seen } from '../finding.ts';
import { mapSeen, listVisible } from './list-visible.ts';

/** The fields that are read of a PodCertificateRequest. */
interface PodRequest extends KubeObject {
  readonly spec: { readonly signerName: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Lists the pending requests to signers of this installation. */
export async function readRequests(
  client: Client,
  signers: Seen<SignerFacts>,
  acme: Seen<AcmeFacts>,
): Promise<Seen<readonly WaitingRequest[]>> {
  if (!('value' in signers)) return signers;
  const names = new Set(signers.value.states.map(({ signer }) => signer.spec.signerName));
  const isManaged = (name: string): boolean => names.has(name) || isDerivedName(name);
  const ofAcme = 'value' in acme ? acme.value.signers : [];
  const acmeNames = new Set(ofAcme.map(({ spec }) => spec.signerName));
  const [signing, pods] = await Promise.all([
    listVisible<CertificateSigningRequest & KubeObject, WaitingRequest>(
      client,
      CSR_RESOURCE,
      (csr) => {
        const { signerName } = csr.spec;
        // After approval, acme-orders-progress reports what its Order waits for.
        const isOfAcme = acmeNames.has(signerName) && !isApproved(csr);
        return (isManaged(signerName) || isOfAcme) && !isFinished(csr) ? [waitingCsr(csr)] : [];
      },
    ),
    readPodRequests(client, isManaged),
  ]);
  if (!('value' in signing)) return signing;
  return mapSeen(pods, (found) => [...signing.value, ...found]);
}

async function readPodRequests(
  client: Client,
  isManaged: (signerName: string) => boolean,
): Promise<Seen<readonly WaitingRequest[]>> {
  const kind = await certificatesResourceIfServed(client, 'podcertificaterequests');
  if (kind === undefined) return { value: [] };
  return listVisible<PodRequest, WaitingRequest>(client, kind, (request) =>
    isManaged(request.spec.signerName) && !isAnswered(request) ? [waitingPod(request)] : [],
  );
}

function waitingCsr(csr: CertificateSigningRequest): WaitingRequest {
  const { metadata, spec, status } = csr;
  const approved = findCondition(status?.conditions, 'Approved')?.lastTransitionTime;
  return {
    object: `certificatesigningrequest/${metadata.name}`,
    signerName: spec.signerName,
    since: Date.parse(approved ?? metadata.creationTimestamp),
    waitsForApproval: !isApproved(csr),
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
