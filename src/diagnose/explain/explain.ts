// SPDX-License-Identifier: Apache-2.0
import { readChallengeObject, type Challenge } from '#api/acme/challenge.ts';
import { ACME_CLUSTER_SIGNERS, ACME_SIGNERS, CHALLENGES, ORDERS } from '#api/acme/names.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { readExternalSigner } from '#api/external/external-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  withSpec,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import { findCondition } from '#api/request/conditions.ts';
import { usageError } from '#base/errors.ts';
import { EXTERNAL_SIGNERS } from '#component/signers/external-signers.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { readListingFault } from '../check/reading/read-listing.ts';
import { kindNamed, type KindName } from '../kinds.ts';
import { readSignerState } from '#operations/read-signer-state.ts';
import { explainAcmeSigner, explainChallenge, explainOrder, withOrder } from './acme.ts';
import { explainCertificateRequest } from './certificate-request.ts';
import { explainSigningRequest } from './certificate-signing-request.ts';
import { inOrder, type Explanation, type Diagnosis } from './explanation.ts';
import { explainExternalSigner } from './external.ts';
import { requestNamed } from './lookup/request-by-subject.ts';
import {
  finish,
  read,
  type ExplainInit,
  type ExplainContext,
  type Subject,
} from './lookup/reading.ts';
import { explainPcr, explainPodOf, explainWorkloadOf } from './pods/explain-pods.ts';
import { readTrust } from './pods/trust.ts';
import { withChainTrust } from './revoked.ts';
import { eventReader } from './read-events.ts';
import { challengesOf, newestOrder } from './read-orders.ts';
import { readNamedSigner, readSignerView } from './read-signer-view.ts';
import { isOfAcme, type SignerView } from './signer-view.ts';
import { readSecretReferrers } from './read-secret.ts';
import { explainSecret } from './secret.ts';
import { explainSigner, withoutRepeats } from './signer.ts';
import { withWaitReason } from './waiting/read-wait-reason.ts';

const CSRS = resource(CSR_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);
const ORDER_KIND = resource(ORDERS);
const CHALLENGE_KIND = resource(CHALLENGES);
const ACME_CLUSTER_SIGNER_KIND = resource(ACME_CLUSTER_SIGNERS);
const ACME_SIGNER_KIND = resource(ACME_SIGNERS);

type Explainer = (init: ExplainContext, subject: Subject) => Promise<Explanation>;

const EXPLAINERS: Readonly<Partial<Record<KindName, Explainer>>> = {
  pod: explainPodOf,
  deployment: explainWorkloadOf,
  statefulset: explainWorkloadOf,
  daemonset: explainWorkloadOf,
  replicaset: explainWorkloadOf,
  csr: explainCsr,
  pcr: explainPcr,
  certificaterequest: explainCr,
  secret: explainSecretOf,
  signer: explainClusterSigner,
  order: explainOrderOf,
  challenge: explainChallengeOf,
  acmeclustersigner: explainAcmeClusterSigner,
  acmesigner: explainAcmeSignerOf,
  externalclustersigner: explainExternalSignerOf,
};

/**
 * Explains one object with the user's permissions.
 *
 * @throws KubeError of the API server, 404 included
 * @throws SignerError USAGE for another kind
 */
export function explain(init: ExplainInit, subject: Subject): Promise<Explanation> {
  const kind = kindNamed(subject.kind);
  const explainer = kind === undefined ? undefined : EXPLAINERS[kind];
  if (explainer !== undefined)
    return explainer({ ...init, events: eventReader(init.client) }, subject);
  const known = Object.keys(EXPLAINERS);
  const list = `${known.slice(0, -1).join(', ')} and ${known.at(-1) ?? ''}`;
  throw usageError(`${subject.kind}/${subject.name}: explain knows ${list}`);
}

async function explainCsr(init: ExplainContext, { name }: Subject): Promise<Explanation> {
  const csr = await read<CertificateSigningRequest>(init, CSRS, { name }).catch(
    async (error: unknown) => {
      if (!(error instanceof KubeError) || error.status !== 404) throw error;
      const named = await requestNamed(init.client, name);
      if (named === undefined) throw error;
      return named;
    },
  );
  const view = await readSignerView(init.client, csr.spec.signerName);
  const judged = await byOrder(init, csr, view, explainSigningRequest(csr, view));
  const chain = Buffer.from(csr.status?.certificate ?? '', 'base64').toString();
  const trusted = await judgedTrust(init, view, judged, chain);
  const judgement = await withWaitReason(init, view, trusted, csr.metadata);
  return finish(init, 'certificatesigningrequest', csr, judgement);
}

/** Adds that the certificate of an issued request is revoked, or not trusted. */
async function judgedTrust(
  init: ExplainContext,
  view: SignerView,
  diagnosis: Diagnosis,
  chain: string,
): Promise<Diagnosis> {
  if (diagnosis.state !== 'Issued') return diagnosis;
  return withChainTrust(diagnosis, chain, await readTrust(init, view));
}

async function explainCr(init: ExplainContext, { name, namespace }: Subject): Promise<Explanation> {
  const request = await read<CertificateRequest>(init, CERTIFICATE_REQUESTS, { namespace, name });
  return ofCertificateRequest(init, request);
}

async function ofCertificateRequest(
  init: ExplainContext,
  stored: CertificateRequest,
): Promise<Explanation> {
  const request = withSpec(stored);
  const { namespace = '' } = request.metadata;
  const view = await readNamedSigner(init.client, request.spec.issuerRef, namespace);
  const judged = await byOrder(init, request, view, explainCertificateRequest(request, view));
  const chain = Buffer.from(request.status?.certificate ?? '', 'base64').toString();
  const trusted = await judgedTrust(init, view, judged, chain);
  const judgement = await withWaitReason(init, view, trusted, request.metadata);
  return finish(init, 'certificaterequest', request, judgement);
}

/** Adds the latest Order to the diagnosis of a waiting request of an ACME signer. */
async function byOrder(
  init: ExplainContext,
  request: KubeObject,
  { signer }: SignerView,
  diagnosis: Diagnosis,
): Promise<Diagnosis> {
  if (!isOfAcme(signer) || diagnosis.state !== 'WaitingForComponent') return diagnosis;
  const order = await newestOrder(init.client, request);
  return withOrder(diagnosis, order === undefined ? undefined : await ofOrder(init, order));
}

async function explainOrderOf(
  init: ExplainContext,
  { name, namespace }: Subject,
): Promise<Explanation> {
  return ofOrder(init, readOrder(await read(init, ORDER_KIND, { namespace, name })));
}

async function ofOrder(init: ExplainContext, order: Order): Promise<Explanation> {
  const challenges = await challengesOf(init.client, order);
  const parts = await Promise.all(challenges.map((each) => ofChallenge(init, each)));
  return finish(init, 'order.acme.countersign.dev', order, explainOrder(order, parts));
}

async function explainChallengeOf(
  init: ExplainContext,
  { name, namespace }: Subject,
): Promise<Explanation> {
  const found = await read(init, CHALLENGE_KIND, { namespace, name });
  return ofChallenge(init, readChallengeObject(found));
}

function ofChallenge(init: ExplainContext, challenge: Challenge): Promise<Explanation> {
  return finish(init, 'challenge.acme.countersign.dev', challenge, explainChallenge(challenge));
}

async function explainAcmeClusterSigner(
  init: ExplainContext,
  { name }: Subject,
): Promise<Explanation> {
  const signer = readAcmeSigner(await read(init, ACME_CLUSTER_SIGNER_KIND, { name }));
  return finish(init, 'acmeclustersigner', signer, explainAcmeSigner(signer));
}

async function explainExternalSignerOf(
  init: ExplainContext,
  { name }: Subject,
): Promise<Explanation> {
  const signer = readExternalSigner(await read(init, EXTERNAL_SIGNERS, { name }));
  return finish(init, 'externalclustersigner', signer, explainExternalSigner(signer));
}

async function explainAcmeSignerOf(
  init: ExplainContext,
  { name, namespace }: Subject,
): Promise<Explanation> {
  const signer = readAcmeSigner(await read(init, ACME_SIGNER_KIND, { namespace, name }));
  return finish(init, 'acmesigner', signer, explainAcmeSigner(signer));
}

async function explainClusterSigner(init: ExplainContext, { name }: Subject): Promise<Explanation> {
  const state = await readSignerState(init, name);
  const { metadata, status } = state.signer;
  const isReady = findCondition(status?.conditions, 'Ready')?.status === 'True';
  const unlisted = isReady ? undefined : await readListingFault(init, state.signer);
  const diagnosis = explainSigner(state, unlisted);
  if (unlisted === undefined)
    return withoutRepeats(await finish(init, 'clustersigner', state.signer, diagnosis), state);
  // Its Events name the missing permissions one by one. They all have this cause.
  const timeline = inOrder(diagnosis.timeline);
  return { object: `clustersigner/${metadata.name}`, ...diagnosis, timeline };
}

async function explainSecretOf(
  init: ExplainContext,
  { name, namespace }: Subject,
): Promise<Explanation> {
  const { request, signers, ...rest } = await readSecretReferrers(init.client, { namespace, name });
  const diagnosis = explainSecret({
    name,
    namespace,
    ...rest,
    request: request === undefined ? undefined : await ofCertificateRequest(init, request),
    signers: await Promise.all(
      signers.map((each) => explainClusterSigner(init, { kind: '', name: each, namespace })),
    ),
  });
  return { object: `secret/${name}`, namespace, ...diagnosis };
}
