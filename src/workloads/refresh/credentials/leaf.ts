// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { KubeObject, ObjectMeta, Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import { isApproved, type CertificateRequest } from '#api/request/certificate-request.ts';
import { findCondition } from '#api/request/conditions.ts';
import {
  CERTIFICATE_NAME,
  certificateRevision,
  controllingCertificate,
  type CertManagerCertificate,
} from '#api/workload/certificate.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { decodePemAll } from '#pki/der/pem.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';

/**
 * The public facts of a certificate that restarts depend on. Times are milliseconds since the
 * epoch.
 */
export interface LeafSummary {
  /** SHA-256 of the DER in hex. */
  readonly hash: string;
  /** Absent if the certificate cannot be decoded. Its change still counts. */
  readonly validity?: { readonly notBefore: number; readonly notAfter: number } | undefined;
  /** Key identifier in hex of the CA that signed it (RFC 5280 §4.2.1.1), absent if it has none. */
  readonly issuer?: string | undefined;
}

/** A CertificateRequest reduced to its owner and its certificate. */
export interface IssuedRequest extends KubeObject {
  readonly issued?: LeafSummary & {
    /** UID of the Certificate that controls it. */
    readonly certificate: string;
    readonly revision: number;
    /** Time at which `Ready` became True. cert-manager writes the Secret after that. */
    readonly at: number;
  };
}

/** The current credential, and since when. */
export interface CurrentLeaf {
  readonly hash: string;
  /** Earliest time of this credential. A pod whose containers started earlier has another. */
  readonly issuedAt: number;
  /**
   * Latest time of its write, with room for the clock of a node. A pod that a kubelet accepted
   * later has this credential.
   */
  readonly writtenBy: number;
  /**
   * Time by the API server's clock when it was written for certain, if known. A pod that was
   * created later has this credential, whatever the clock of its node.
   */
  readonly storedAt?: number | undefined;
  /** True if there was no previous credential, so pods that mount it waited for it. */
  readonly isFirst: boolean;
  /** Remaining validity of the previous credential at `issuedAt`. */
  readonly remaining: number;
  /** UIDs of the pods that must be replaced, if the credential is a pod's own. */
  readonly pods?: ReadonlySet<string>;
}

/**
 * Maximum time between a Ready request and its Secret, and maximum offset of a node's clock.
 * cert-manager takes a second when it is not busy.
 */
const WRITING_MS = 60_000;

/** Returns the summary of a chain in PEM, leaf first, or undefined if there is none. */
export function summaryOf(pem: string): LeafSummary | undefined {
  const blocks = attempt(() => decodePemAll(pem, 'CERTIFICATE'));
  const leaf = blocks instanceof SignerError ? undefined : blocks[0];
  if (leaf === undefined) return undefined;
  const hash = createHash('sha256').update(leaf).digest('hex');
  const decoded = attempt(() => decodeCertificate(leaf));
  if (decoded instanceof SignerError) return { hash };
  const { notBefore, notAfter, authorityKeyIdentifier: issuer } = decoded;
  return {
    hash,
    validity: { notBefore, notAfter },
    ...(issuer === undefined ? {} : { issuer: Buffer.from(issuer).toString('hex') }),
  };
}

/** Reduces a CertificateRequest to the cached fields. */
export function issuedRequest(request: CertificateRequest): IssuedRequest {
  const { apiVersion, kind, metadata } = request;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const issued = issuedOf(request);
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(namespace === undefined ? {} : { namespace }),
    },
    ...(issued === undefined ? {} : { issued }),
  };
}

function issuedOf(request: CertificateRequest): IssuedRequest['issued'] {
  const certificate = controllingCertificate(request)?.uid;
  const revision = certificateRevision(request);
  const at = issuedAt(request);
  if (certificate === undefined || revision === undefined) return undefined;
  const summary = Number.isNaN(at) ? undefined : summaryOf(pemOf(request));
  return summary === undefined ? undefined : { ...summary, certificate, revision, at };
}

/** Returns when it was issued, or NaN if it was not. */
function issuedAt(request: CertificateRequest): number {
  const ready = findCondition(request.status?.conditions, 'Ready');
  if (ready?.status !== 'True' || !isApproved(request)) return NaN;
  return parseTime(ready.lastTransitionTime ?? request.metadata.creationTimestamp);
}

function pemOf({ status }: CertificateRequest): string {
  return Buffer.from(status?.certificate ?? '', 'base64').toString('latin1');
}

/** Returns the credential of a Secret from a CertificateRequest and its Certificate. */
export function leafOfRequest(
  issued: NonNullable<IssuedRequest['issued']>,
  before: IssuedRequest['issued'],
  { metadata, status = {} }: Pick<CertManagerCertificate, 'metadata' | 'status'>,
): CurrentLeaf {
  const { hash, at, revision } = issued;
  // cert-manager writes the revision to the Certificate after the Secret (issuing_controller.go,
  // issueCertificate), so the time of that write is late enough.
  const [storedAt] = writesOf(metadata, ['f:status', 'f:revision']);
  return {
    hash,
    issuedAt: at,
    writtenBy: at + WRITING_MS,
    ...(storedAt === undefined || storedAt < at ? {} : { storedAt }),
    isFirst: revision === 1,
    remaining: Math.max(0, remainingOf(issued, before, status)),
  };
}

/**
 * Returns when the managers of a field last wrote to the object, the newest first, in milliseconds
 * by the API server's clock. The value of the field is at least as old.
 */
function writesOf({ managedFields = [] }: ObjectMeta, path: readonly string[]): readonly number[] {
  return managedFields
    .filter(({ fieldsV1 = {} }) => hasField(fieldsV1, path))
    .map(({ time = '' }) => parseTime(time))
    .filter((time) => !Number.isNaN(time))
    .sort((a, b) => b - a);
}

function hasField(fields: object, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  const below: unknown = new Map<string, unknown>(Object.entries(fields)).get(first);
  return typeof below === 'object' && below !== null && hasField(below, rest);
}

/**
 * Returns the remaining validity of the previous leaf. If that leaf is unknown, returns the
 * remaining validity that this one will have at its renewal. Without that time, returns a third of
 * its lifetime, cert-manager's default.
 */
function remainingOf(
  issued: NonNullable<IssuedRequest['issued']>,
  before: IssuedRequest['issued'],
  {
    notAfter = '',
    renewalTime = '',
  }: { readonly notAfter?: string; readonly renewalTime?: string },
): number {
  if (before?.validity !== undefined) return before.validity.notAfter - issued.at;
  const planned = parseTime(notAfter) - parseTime(renewalTime);
  if (!Number.isNaN(planned)) return planned;
  return thirdOfLife(issued);
}

function thirdOfLife({ validity }: LeafSummary): number {
  return validity === undefined ? 0 : (validity.notAfter - validity.notBefore) / 3;
}

/**
 * Returns the credential from the Secret itself, if no request is left. The newest write of its
 * data is its time. Returns undefined for Secrets that cert-manager did not issue.
 */
export function leafOfSecret({ metadata, data = {} }: Secret): CurrentLeaf | undefined {
  const pem = Buffer.from(data['tls.crt'] ?? '', 'base64').toString('latin1');
  const summary = summaryOf(pem);
  if (summary === undefined || metadata.annotations?.[CERTIFICATE_NAME] === undefined) {
    return undefined;
  }
  const [written = NaN] = writesOf(metadata, ['f:data']);
  const storedAt = Number.isNaN(written) ? parseTime(metadata.creationTimestamp) : written;
  return {
    hash: summary.hash,
    issuedAt: storedAt,
    writtenBy: storedAt + WRITING_MS,
    storedAt,
    isFirst: false,
    remaining: thirdOfLife(summary),
  };
}
