// SPDX-License-Identifier: Apache-2.0
/** Converts requests into ledger records. */
import type { KubeObject } from '#api/object/object.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { conditionMessage, findCondition, type Condition } from '#api/request/conditions.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Requester } from '#api/request/reviewable-request.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { attempt, SignerError } from '#base/errors.ts';
import type { LedgerRecord } from '#ledger/records/record.ts';
import { decodePem } from '#pki/der/pem.ts';
import { present } from '#base/object-keys.ts';

/** Facts of a request: signer, contents, requester and approval. */
export type RequestFacts = Pick<
  Extract<LedgerRecord, { readonly kind: 'issued' }>,
  'signer' | 'request' | 'requester' | 'decision'
>;

/** Services, and the labels of the pod that they selected. */
export type ProvenBy = Pick<NonNullable<RequestFacts['decision']>, 'services' | 'labels'>;

type AskedRequest = RequestFacts['request'];
type AskedRequester = RequestFacts['requester'];

/** Returns the facts of a CertificateSigningRequest. */
export function factsOfCsr(csr: CertificateSigningRequest, signer: SignerObject): RequestFacts {
  const { spec, status } = csr;
  return {
    signer: signerOf(signer),
    request: {
      ...named(csr),
      ...pkcs10Of(spec.request),
      ...present('usages', spec.usages),
      ...present('expirationSeconds', spec.expirationSeconds),
    },
    requester: requesterOf(spec),
    ...statedIn(status?.conditions),
  };
}

/**
 * Returns the facts of cert-manager's CertificateRequest. Its requester is its creator, usually
 * cert-manager.
 */
export function factsOfCertificateRequest(
  request: CertificateRequest,
  signer: SignerObject,
): RequestFacts {
  const { spec, status } = request;
  return {
    signer: signerOf(signer),
    request: { ...named(request), ...pkcs10Of(spec.request), ...present('usages', spec.usages) },
    requester: requesterOf(spec),
    ...statedIn(status?.conditions),
  };
}

/** Returns the facts of a kubelet's request for a pod. */
export function factsOfPodRequest(
  request: PodCertificateRequest,
  signer: SignerObject,
): RequestFacts {
  const { spec } = request;
  const { namespace = '' } = request.metadata;
  const { stubPKCS10Request, pkixPublicKey } = spec;
  return {
    signer: signerOf(signer),
    request: {
      ...named(request),
      ...present('pkcs10', nonEmpty(stubPKCS10Request)),
      ...present('publicKey', nonEmpty(pkixPublicKey)),
      ...present('expirationSeconds', spec.maxExpirationSeconds),
      // Always present, so that a replay can tell no annotations from omitted ones.
      annotations: spec.unverifiedUserAnnotations ?? {},
    },
    requester: {
      pod: { namespace, name: spec.podName, uid: spec.podUID },
      serviceAccount: { namespace, name: spec.serviceAccountName, uid: spec.serviceAccountUID },
      node: { name: spec.nodeName, uid: spec.nodeUID },
    },
  };
}

/** Returns the signer of a record: its object and generation. */
export function signerOf({ kind, metadata, spec }: SignerObject): RequestFacts['signer'] {
  const { namespace, name, uid, generation } = metadata;
  return {
    name: spec.signerName,
    kind,
    object: { ...present('namespace', namespace), name, uid },
    ...present('generation', generation),
  };
}

function named({ kind, metadata: { namespace, name, uid } }: KubeObject): AskedRequest {
  return { kind, ...present('namespace', namespace), name, uid };
}

/** Omits a PKCS#10 request that cannot be read. Such a request is refused. */
function pkcs10Of(request: string): Pick<AskedRequest, 'pkcs10'> {
  const pem = Buffer.from(request, 'base64').toString('latin1');
  const der = attempt(() => decodePem(pem, 'CERTIFICATE REQUEST'));
  return der instanceof SignerError ? {} : { pkcs10: Buffer.from(der).toString('base64') };
}

/**
 * Maximum length of an object name (RFC 1123 subdomain). A longer text comes from impersonation and
 * names no object.
 */
const NAME_LENGTH = 253;
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]{1,253}):([^:]{1,253})$/;
/** Extra keys of a pod-bound token (KEP-1205, KEP-4193), which only the API server sets. */
const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
const NODE_UID = 'authentication.kubernetes.io/node-uid';

function requesterOf({ username = '', uid, groups, extra = {} }: Requester): AskedRequester {
  const ownUid = present('uid', nonEmpty(uid));
  const user = { username, ...ownUid, ...present('groups', groups) };
  const of = (key: string): string | undefined => possibleName(extra[key]?.[0]);
  const node = of(NODE_NAME);
  return {
    ...(username === '' ? {} : { user }),
    ...ofServiceAccount(username, { ownUid, pod: of(POD_NAME), podUid: of(POD_UID) }),
    ...(node === undefined ? {} : { node: { name: node, ...present('uid', of(NODE_UID)) } }),
  };
}

function ofServiceAccount(
  username: string,
  bound: {
    readonly ownUid: { readonly uid?: string };
    readonly pod: string | undefined;
    readonly podUid: string | undefined;
  },
): Pick<AskedRequester, 'serviceAccount' | 'pod'> {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(username) ?? [];
  if (namespace === undefined || name === undefined) return {};
  const { ownUid, pod, podUid } = bound;
  const serviceAccount = { namespace, name, ...ownUid };
  if (pod === undefined) return { serviceAccount };
  return { serviceAccount, pod: { namespace, name: pod, ...present('uid', podUid) } };
}

/** Maximum bytes of a stated message in a record. */
const STATED_BYTES = 1024;

function statedIn(conditions: readonly Condition[] | undefined): Pick<RequestFacts, 'decision'> {
  const { reason, message } = findCondition(conditions, 'Approved') ?? {};
  if (reason === undefined && message === undefined) return {};
  const stated = {
    ...present('reason', reason && conditionMessage(reason, NAME_LENGTH)),
    ...present('message', message && conditionMessage(message, STATED_BYTES)),
  };
  return { decision: { stated } };
}

function possibleName(text: string | undefined): string | undefined {
  return text !== undefined && text.length <= NAME_LENGTH ? nonEmpty(text) : undefined;
}

function nonEmpty(text: string | null | undefined): string | undefined {
  return text === null || text === '' ? undefined : text;
}
