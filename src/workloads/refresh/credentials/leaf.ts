// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { KubeObject, Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import { isApproved, type CertificateRequest } from '#api/request/certificate-request.ts';
import { findCondition } from '#api/request/conditions.ts';
import {
  CERTIFICATE_NAME,
  certificateRevision,
  controllingCertificate,
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
  /** Latest time of its write. A pod that started later has this credential. */
  readonly writtenBy: number;
  /** True if there was no previous credential, so pods that mount it waited for it. */
  readonly isFirst: boolean;
  /** Remaining validity of the previous credential at `issuedAt`. */
  readonly remaining: number;
  /** UIDs of the pods that must be replaced, if the credential is a pod's own. */
  readonly pods?: ReadonlySet<string>;
}

/**
 * Maximum time between a Ready request and its Secret. cert-manager takes a second when it is not
 * busy.
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
  certificate: { readonly notAfter?: string; readonly renewalTime?: string } = {},
): CurrentLeaf {
  const { hash, at, revision } = issued;
  return {
    hash,
    issuedAt: at,
    writtenBy: at + WRITING_MS,
    isFirst: revision === 1,
    remaining: Math.max(0, remainingOf(issued, before, certificate)),
  };
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
  const { managedFields = [] } = metadata;
  const times = managedFields
    .filter(({ fieldsV1 = {} }) => 'f:data' in fieldsV1)
    .map(({ time = '' }) => parseTime(time))
    .filter((time) => !Number.isNaN(time));
  const writtenBy = Math.max(parseTime(metadata.creationTimestamp), ...times);
  return {
    hash: summary.hash,
    issuedAt: writtenBy,
    writtenBy,
    isFirst: false,
    remaining: thirdOfLife(summary),
  };
}
