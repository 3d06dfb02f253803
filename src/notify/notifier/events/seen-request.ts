// SPDX-License-Identifier: Apache-2.0
/** Reduces a request to its result and the data of its event. */
import { X509Certificate } from 'node:crypto';
import { ACME_GROUP } from '#api/acme/names.ts';
import type { KubeObject } from '#api/object/object.ts';
import { withSpec, type CertificateRequest } from '#api/request/certificate-request.ts';
import { findCondition, hasTrueCondition, type Condition } from '#api/request/conditions.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import type { Requester } from '#api/request/reviewable-request.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { GROUP } from '#api/signer/cluster-signer.ts';
import { csrFlow } from '#requests/loop/csr-fairness.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { validityOf } from '#pki/x509/validity.ts';
import type { EventData } from './event.ts';

/** Plurals of the watched kinds. */
export type RequestPlural =
  'certificatesigningrequests' | 'podcertificaterequests' | 'certificaterequests';

export function isRequestPlural(plural: string): boolean {
  return Object.hasOwn(PARTS, plural);
}

/** The result of a request. */
export interface RequestEnd {
  readonly stage: 'issued' | 'denied' | 'failed';
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** The certificate of an issued request. Times are in milliseconds since 1970. */
export interface SeenCertificate {
  readonly fingerprint: string;
  readonly serialNumber: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Time at which the kubelet renews it. Absent if no kubelet does. */
  readonly beginRefreshAt?: number;
}

/** A request, reduced to the data of its event. */
export interface SeenRequest extends KubeObject {
  readonly plural: RequestPlural;
  /** Signer name of the request. For a CertificateRequest, the key of the signer's object. */
  readonly signer: string;
  /** Unit of fairness: a namespace or a user. */
  readonly flow: string;
  /** Members of the event's data. */
  readonly about: EventData;
  /** Renewal key. A later certificate with the same key replaces this one. */
  readonly renews: string;
  readonly end?: RequestEnd;
  readonly certificate?: SeenCertificate;
}

/** Characters of a message that an event keeps. A status may have 32 KiB. */
const MAX_EVENT_MESSAGE = 600;
const MAX_NAME = 253;

/** Reduces a request. An already reduced request stays unchanged. */
export function seenRequest(plural: RequestPlural, object: KubeObject): SeenRequest {
  // A reduced request alone has the member.
  if ('renews' in object) return object as SeenRequest;
  const { apiVersion, kind } = object;
  // The watch of a plural delivers objects of its kind.
  const { signer, flow, about, ...parts } = PARTS[plural](object as never);
  const end = parts.end && cut(parts.end);
  const certificate = end?.stage === 'issued' ? certificateIn(parts) : undefined;
  // One user may request several certificates, which differ by subject.
  const renews =
    parts.bySubject === true ? `${parts.renews} ${certificate?.subject ?? ''}` : parts.renews;
  return {
    apiVersion,
    kind,
    plural,
    metadata: identityOf(object),
    signer,
    flow,
    about,
    renews,
    ...(end === undefined ? {} : { end }),
    ...(certificate === undefined ? {} : { certificate: certificate.seen }),
  };
}

function identityOf({ metadata }: KubeObject): KubeObject['metadata'] {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const kept = { name, uid, resourceVersion, creationTimestamp };
  return namespace === undefined ? kept : { ...kept, namespace };
}

interface Parts {
  readonly signer: string;
  readonly flow: string;
  readonly about: EventData;
  readonly renews: string;
  readonly bySubject?: true;
  readonly end: RequestEnd | undefined;
  readonly pem: string;
  readonly beginRefreshAt?: number;
}

/** The parts of each kind: a function for the objects of its plural. */
const PARTS: Readonly<Record<RequestPlural, (object: never) => Parts>> = {
  certificatesigningrequests: ofCsr,
  podcertificaterequests: ofPcr,
  certificaterequests: ofCertificateRequest,
};

function ofCsr(csr: CertificateSigningRequest): Parts {
  const { spec, status = {} } = csr;
  const { conditions, certificate = '' } = status;
  const username = userOf(spec);
  return {
    signer: spec.signerName,
    flow: csrFlow(csr),
    about: { username },
    renews: `${spec.signerName} ${username}`,
    bySubject: true,
    end:
      ended(conditions, 'Denied') ??
      ended(conditions, 'Failed') ??
      (certificate === '' ? undefined : { stage: 'issued', at: issuedAt(csr) }),
    pem: Buffer.from(certificate, 'base64').toString('latin1'),
  };
}

function userOf({ username = '' }: Requester): string {
  return username.slice(0, MAX_NAME);
}

/**
 * Returns the time of issuance. A CertificateSigningRequest has none, but the managed fields of its
 * status do.
 */
function issuedAt(csr: CertificateSigningRequest): number {
  const approved = findCondition(csr.status?.conditions, 'Approved');
  return statusWrittenAt(csr) ?? timeOf(approved) ?? createdAt(csr.metadata);
}

function ofPcr({ metadata, spec, status = {} }: PodCertificateRequest): Parts {
  const { conditions, certificateChain = '', beginRefreshAt } = status;
  const issued = findCondition(conditions, 'Issued');
  const { podName, podUID, serviceAccountName: serviceAccount, nodeName: node } = spec;
  return {
    signer: spec.signerName,
    flow: `namespace ${metadata.namespace ?? ''}`,
    about: { pod: { name: podName, uid: podUID }, serviceAccount, node },
    renews: `${podUID} ${spec.signerName} ${spec.maxExpirationSeconds ?? ''}`,
    end:
      ended(conditions, 'Denied') ??
      ended(conditions, 'Failed') ??
      (issued && { stage: 'issued', at: timeOf(issued) ?? createdAt(metadata) }),
    pem: certificateChain,
    ...(beginRefreshAt === undefined ? {} : { beginRefreshAt: Date.parse(beginRefreshAt) }),
  };
}

/** cert-manager's annotation with the Certificate that a request belongs to. */
const CERTIFICATE_NAME = 'cert-manager.io/certificate-name';

function ofCertificateRequest(stored: CertificateRequest): Parts {
  const request = withSpec(stored);
  const { metadata, spec, status = {} } = request;
  const { namespace = '', annotations = {} } = metadata;
  const certificateName = annotations[CERTIFICATE_NAME];
  return {
    signer: issuerKey(request),
    flow: `namespace ${namespace}`,
    about: { username: userOf(spec), certificateName },
    renews: `certificate ${namespace} ${certificateName ?? metadata.name}`,
    end: endOfCertificateRequest(request),
    pem: Buffer.from(status.certificate ?? '', 'base64').toString('latin1'),
  };
}

/** Key for foreign issuers. Keys of signers have no colon. */
const NOT_OURS = 'other:';
/** Prefix for keys of ACME signers. A ClusterSigner may have the name of an AcmeClusterSigner. */
export const ACME_KEY = 'acme:';

function issuerKey({ metadata, spec }: CertificateRequest): string {
  const { group, kind = '', name } = spec.issuerRef;
  const prefix = ISSUERS.get(group ?? '');
  if (prefix === undefined) return NOT_OURS;
  return prefix + (NAMESPACED.includes(kind) ? `${metadata.namespace ?? ''}/${name}` : name);
}

/** Prefix of a key, by the API group of its kind. */
const ISSUERS: ReadonlyMap<string, string> = new Map([
  [GROUP, ''],
  [ACME_GROUP, ACME_KEY],
]);
const NAMESPACED: readonly string[] = ['Signer', 'AcmeSigner'];

function endOfCertificateRequest({
  metadata,
  status = {},
}: CertificateRequest): RequestEnd | undefined {
  const { conditions, certificate = '' } = status;
  const ready = findCondition(conditions, 'Ready');
  const end =
    ended(conditions, 'Denied') ?? ended(conditions, 'InvalidRequest') ?? endedByReady(ready);
  if (end !== undefined || certificate === '') return end;
  return { stage: 'issued', at: timeOf(ready) ?? createdAt(metadata) };
}

function endedByReady(ready: Condition | undefined): RequestEnd | undefined {
  if (ready?.reason === 'Denied') return endOf('denied', ready);
  return ready?.reason === 'Failed' ? endOf('failed', ready) : undefined;
}

function ended(conditions: readonly Condition[] | undefined, type: string): RequestEnd | undefined {
  const found = findCondition(conditions, type);
  const isTrue = found !== undefined && hasTrueCondition(conditions, type);
  return isTrue ? endOf(type === 'Denied' ? 'denied' : 'failed', found) : undefined;
}

function endOf(stage: RequestEnd['stage'], condition: Condition): RequestEnd {
  const { reason, message } = condition;
  return { stage, at: timeOf(condition) ?? 0, reason, message };
}

function cut(end: RequestEnd): RequestEnd {
  const { reason, message, ...rest } = end;
  return {
    ...rest,
    reason: reason?.slice(0, MAX_EVENT_MESSAGE),
    message: message?.slice(0, MAX_EVENT_MESSAGE),
  };
}

function timeOf(condition: Condition | undefined): number | undefined {
  const at = Date.parse(condition?.lastTransitionTime ?? condition?.lastUpdateTime ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function createdAt({ creationTimestamp }: KubeObject['metadata']): number {
  const at = Date.parse(creationTimestamp);
  return Number.isNaN(at) ? 0 : at;
}

function statusWrittenAt({ metadata }: KubeObject): number | undefined {
  const times = (metadata.managedFields ?? [])
    .filter(({ subresource }) => subresource === 'status')
    .map(({ time = '' }) => Date.parse(time))
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.max(...times);
}

/**
 * Parses a certificate as verifiers do (OpenSSL). An event about an unreadable certificate omits
 * it.
 */
function certificateIn({
  pem,
  beginRefreshAt,
}: Pick<Parts, 'pem' | 'beginRefreshAt'>):
  { readonly seen: SeenCertificate; readonly subject: string } | undefined {
  try {
    const certificate = new X509Certificate(pem);
    const validity = validityOf(certificate);
    if (validity === undefined) return undefined;
    const seen = {
      fingerprint: fingerprint(certificate.raw),
      serialNumber: certificate.serialNumber.toLowerCase(),
      ...validity,
      ...(beginRefreshAt === undefined ? {} : { beginRefreshAt }),
    };
    return { seen, subject: subjectOf(certificate).slice(0, MAX_NAME) };
  } catch {
    return undefined;
  }
}

/** Returns the subject. Node.js returns undefined for an empty name, contrary to its types. */
function subjectOf({ subject = '' }: { readonly subject?: string }): string {
  return subject;
}
