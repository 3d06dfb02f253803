// SPDX-License-Identifier: Apache-2.0
import {
  ACME_CLUSTER_SIGNERS,
  ACME_SIGNERS,
  CHALLENGES,
  ORDERS,
  readAcmeSigner,
  readChallengeObject,
  readOrder,
  type Challenge,
  type Order,
} from '../api/acme/index.ts';
import { byAge, type KubeObject } from '../api/object/object.ts';
import type { Pod } from '../api/object/pod.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  type CertificateRequest,
} from '../api/request/certificate-request.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '../api/request/csr.ts';
import type { PodCertificateRequest } from '../api/request/pod-certificate-request.ts';
import { certificatesResources } from '../app/certificates-resources.ts';
import { usageError } from '../errors.ts';
import { PODS } from '../kube/resource/core-v1.ts';
import { resource, type Resource } from '../kube/resource/resource.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import { readSignerState, type ReadSignerStateInit } from '../operations/read-signer-state.ts';
import { explainAcmeSigner, explainChallenge, explainOrder, withOrder } from './acme.ts';
import { explainCertificateRequest } from './certificate-request.ts';
import { explainSigningRequest } from './certificate-signing-request.ts';
import { inOrder, type Explanation, type Journey } from './explanation.ts';
import { explainPodRequest } from './pods/pod-certificate-request.ts';
import { explainPod, mountedSigners } from './pods/pod.ts';
import { eventReader, type EventReader } from './read-events.ts';
import { readFullQuota } from './pods/quota.ts';
import { readEvidence } from './pods/read-evidence.ts';
import { readKubelet } from './pods/read-kubelet.ts';
import { challengesOf, newestOrder } from './read-orders.ts';
import { readNamedSigner, readSignerView } from './read-signer-view.ts';
import { isOfAcme, type SignerView } from './signer-view.ts';
import { readSecretReferrers } from './read-secret.ts';
import { explainSecret } from './secret.ts';
import { explainSigner } from './signer.ts';
import { keptWaiting } from './waiting/read-kept-waiting.ts';

/** What is to be explained. */
export interface Subject {
  /** As the user wrote it: `csr`, `pod`. */
  readonly kind: string;
  readonly name: string;
  /** Of things that have one. */
  readonly namespace: string;
}

/** How to read. */
export interface ExplainInit extends ReadSignerStateInit {
  /** The subject itself, where it has been read already. */
  readonly known?: KubeObject;
}

/** What the parts of one explanation share. */
interface Reading extends ExplainInit {
  readonly events: EventReader;
}

const CSRS = resource(CSR_RESOURCE);
const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);
const ORDER_KIND = resource(ORDERS);
const CHALLENGE_KIND = resource(CHALLENGES);
const ACME_CLUSTER_SIGNER_KIND = resource(ACME_CLUSTER_SIGNERS);
const ACME_SIGNER_KIND = resource(ACME_SIGNERS);

type Explainer = (init: Reading, subject: Subject) => Promise<Explanation>;

const EXPLAINERS: ReadonlyMap<string, Explainer> = new Map([
  ...namesOf(['csr', 'certificatesigningrequest', 'certificatesigningrequests'], explainCsr),
  ...namesOf(['pcr', 'podcertificaterequest', 'podcertificaterequests'], explainPcr),
  ...namesOf(['cr', 'certificaterequest', 'certificaterequests'], explainCr),
  ...namesOf(['pod', 'pods', 'po'], explainPodOf),
  ...namesOf(['secret', 'secrets'], explainSecretOf),
  ...namesOf(['signer', 'clustersigner', 'clustersigners'], explainClusterSigner),
  ...namesOf(['order', 'orders'], explainOrderOf),
  ...namesOf(['challenge', 'challenges'], explainChallengeOf),
  ...namesOf(['acmeclustersigner', 'acmeclustersigners'], explainAcmeClusterSigner),
  ...namesOf(['acmesigner', 'acmesigners'], explainAcmeSignerOf),
]);

function namesOf(
  names: readonly string[],
  explainer: Explainer,
): readonly (readonly [string, Explainer])[] {
  return names.map((name) => [name, explainer]);
}

/**
 * Explains one thing with the user's permissions.
 *
 * @throws KubeError of the API server, 404 included; SignerError USAGE for another kind
 */
export function explain(init: ExplainInit, subject: Subject): Promise<Explanation> {
  const explainer = EXPLAINERS.get(subject.kind.toLowerCase());
  if (explainer !== undefined)
    return explainer({ ...init, events: eventReader(init.client) }, subject);
  throw usageError(
    `${subject.kind}/${subject.name}: explain knows pod, csr, pcr, certificaterequest, secret, signer, order, challenge, acmeclustersigner and acmesigner`,
  );
}

/** Reads the subject. */
async function read<T extends KubeObject = KubeObject>(
  { client, known }: Reading,
  kind: Resource,
  reference: { readonly namespace?: string; readonly name: string },
): Promise<T> {
  if (known !== undefined) return known as T;
  return client.request<T>({ method: 'GET', path: kind.object(reference) });
}

/** Puts the object's name and its Events to what was judged. */
async function finish(
  { events }: Reading,
  kind: string,
  { metadata }: KubeObject,
  judgement: Journey,
): Promise<Explanation> {
  const { moments } = await events(metadata);
  return {
    object: `${kind}/${metadata.name}`,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ...judgement,
    timeline: inOrder([...judgement.timeline, ...moments]),
  };
}

async function explainCsr(init: Reading, { name }: Subject): Promise<Explanation> {
  const csr = await read<CertificateSigningRequest>(init, CSRS, { name });
  const view = await readSignerView(init.client, csr.spec.signerName);
  const judged = await byOrder(init, csr, view, explainSigningRequest(csr, view));
  const judgement = await keptWaiting(init, view, judged, csr.metadata);
  return finish(init, 'certificatesigningrequest', csr, judgement);
}

async function explainPcr(init: Reading, { name, namespace }: Subject): Promise<Explanation> {
  const [kind] = await certificatesResources(init.client, 'podcertificaterequests');
  const request = await read<PodCertificateRequest>(init, kind, { namespace, name });
  return ofPodRequest(init, request);
}

async function ofPodRequest(init: Reading, request: PodCertificateRequest): Promise<Explanation> {
  const { client } = init;
  const view = await readSignerView(client, request.spec.signerName);
  const evidence = await readEvidence(client, request, view);
  const { namespace, creationTimestamp } = request.metadata;
  // pcr-issuer's Events regard the pod, whose people look there.
  const pod = { uid: request.spec.podUID, namespace, creationTimestamp };
  const judged = explainPodRequest(request, view, evidence);
  const journey = await keptWaiting(init, view, judged, pod);
  return finish(init, 'podcertificaterequest', request, journey);
}

async function explainCr(init: Reading, { name, namespace }: Subject): Promise<Explanation> {
  const request = await read<CertificateRequest>(init, CERTIFICATE_REQUESTS, { namespace, name });
  return ofCertificateRequest(init, request);
}

async function ofCertificateRequest(
  init: Reading,
  request: CertificateRequest,
): Promise<Explanation> {
  const { kind = 'Issuer', name: issuer } = request.spec.issuerRef;
  const { namespace = '' } = request.metadata;
  const view = await readNamedSigner(init.client, { kind, name: issuer, namespace });
  const judged = await byOrder(init, request, view, explainCertificateRequest(request, view));
  const judgement = await keptWaiting(init, view, judged, request.metadata);
  return finish(init, 'certificaterequest', request, judgement);
}

/** What the newest Order says of a request of an ACME signer that waits. */
async function byOrder(
  init: Reading,
  request: KubeObject,
  { signer }: SignerView,
  journey: Journey,
): Promise<Journey> {
  if (!isOfAcme(signer) || journey.state !== 'WaitsForComponent') return journey;
  const order = await newestOrder(init.client, request);
  return withOrder(journey, order === undefined ? undefined : await ofOrder(init, order));
}

async function explainOrderOf(init: Reading, { name, namespace }: Subject): Promise<Explanation> {
  return ofOrder(init, readOrder(await read(init, ORDER_KIND, { namespace, name })));
}

async function ofOrder(init: Reading, order: Order): Promise<Explanation> {
  const challenges = await challengesOf(init.client, order);
  const parts = await Promise.all(challenges.map((each) => ofChallenge(init, each)));
  return finish(init, 'order.acme.countersign.dev', order, explainOrder(order, parts));
}

async function explainChallengeOf(
  init: Reading,
  { name, namespace }: Subject,
): Promise<Explanation> {
  const found = await read(init, CHALLENGE_KIND, { namespace, name });
  return ofChallenge(init, readChallengeObject(found));
}

function ofChallenge(init: Reading, challenge: Challenge): Promise<Explanation> {
  return finish(init, 'challenge.acme.countersign.dev', challenge, explainChallenge(challenge));
}

async function explainAcmeClusterSigner(init: Reading, { name }: Subject): Promise<Explanation> {
  const signer = readAcmeSigner(await read(init, ACME_CLUSTER_SIGNER_KIND, { name }));
  return finish(init, 'acmeclustersigner', signer, explainAcmeSigner(signer));
}

async function explainAcmeSignerOf(
  init: Reading,
  { name, namespace }: Subject,
): Promise<Explanation> {
  const signer = readAcmeSigner(await read(init, ACME_SIGNER_KIND, { namespace, name }));
  return finish(init, 'acmesigner', signer, explainAcmeSigner(signer));
}

async function explainClusterSigner(init: Reading, { name }: Subject): Promise<Explanation> {
  const state = await readSignerState(init, name);
  return finish(init, 'clustersigner', state.signer, explainSigner(state));
}

async function explainSecretOf(init: Reading, { name, namespace }: Subject): Promise<Explanation> {
  const { request, signers, ...rest } = await readSecretReferrers(init.client, { namespace, name });
  const journey = explainSecret({
    ...{ name, namespace, ...rest },
    request: request === undefined ? undefined : await ofCertificateRequest(init, request),
    signers: await Promise.all(
      signers.map((each) => explainClusterSigner(init, { kind: '', name: each, namespace })),
    ),
  });
  return { object: `secret/${name}`, namespace, ...journey };
}

async function explainPodOf(init: Reading, { name, namespace }: Subject): Promise<Explanation> {
  const pod = await read<Pod>(init, PODS, { namespace, name });
  const signers = mountedSigners(pod);
  const requests = signers.length === 0 ? [] : await requestsOf(init, pod);
  const newest = signers.flatMap(
    (signer) =>
      requests
        .filter(({ spec }) => spec.signerName === signer)
        .toSorted(byAge)
        .at(-1) ?? [],
  );
  const parts = await Promise.all(newest.map((each) => ofPodRequest(init, each)));
  const asked = signers.length === 0 || parts.length > 0;
  const why = asked
    ? {}
    : {
        quota: await readFullQuota(init.client, namespace),
        kubelet: await readKubelet(init.client, pod.spec.nodeName),
      };
  return finish(init, 'pod', pod, explainPod(pod, parts, why));
}

async function requestsOf(
  { client }: Reading,
  { metadata }: Pod,
): Promise<readonly PodCertificateRequest[]> {
  const [kind] = await certificatesResources(client, 'podcertificaterequests');
  const found: PodCertificateRequest[] = [];
  await listPages({ client, path: kind.collection(metadata.namespace) }, (object) => {
    const request = object as PodCertificateRequest;
    if (request.spec.podUID === metadata.uid) found.push(request);
  });
  return found;
}
