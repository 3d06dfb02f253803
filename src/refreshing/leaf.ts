// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { KubeObject, Secret } from '../api/object/object.ts';
import { parseTime } from '../api/object/time.ts';
import { isApproved, type CertificateRequest } from '../api/request/certificate-request.ts';
import { findCondition } from '../api/request/conditions.ts';
import {
  CERTIFICATE_NAME,
  certificateRevision,
  controllingCertificate,
} from '../api/workload/certificate.ts';
import { attempt, SignerError } from '../errors.ts';
import { decodePemAll } from '../pki/der/pem.ts';
import { decodeCertificate } from '../pki/x509/certificate.ts';

/** The public half of a certificate, as far as restarts go by it. Times are milliseconds since the epoch. */
export interface LeafSummary {
  /** SHA-256 of the DER, in hex. */
  readonly hash: string;
  /** Absent where the certificate cannot be decoded, which does not hinder that it changed. */
  readonly validity?: { readonly notBefore: number; readonly notAfter: number } | undefined;
}

/** A CertificateRequest with nothing left but whose it is and what it got. */
export interface IssuedRequest extends KubeObject {
  readonly issued?: LeafSummary & {
    /** The UID of the Certificate that controls it. */
    readonly certificate: string;
    readonly revision: number;
    /** When `Ready` became True; cert-manager writes the Secret after that. */
    readonly at: number;
  };
}

/** What a credential is now, and since when. */
export interface CurrentLeaf {
  readonly hash: string;
  /** Not before: a pod whose containers started earlier has another. */
  readonly issuedAt: number;
  /** Not after: a pod that started later has this one. */
  readonly writtenBy: number;
  /** There was none before, so who mounts it waited for it. */
  readonly isFirst: boolean;
  /** How long the one before it was still valid at `issuedAt`. */
  readonly remaining: number;
  /** Where a credential is a pod's own: by UID, since when the pod must have run to have an older one. */
  readonly pods?: ReadonlyMap<string, number>;
}

/** Between a request that is Ready and its Secret: cert-manager's work, a second when it is not busy. */
const WRITING_MS = 60_000;

/** By a chain in PEM, leaf first; undefined where there is none. */
export function summaryOf(pem: string): LeafSummary | undefined {
  const blocks = attempt(() => decodePemAll(pem, 'CERTIFICATE'));
  const leaf = blocks instanceof SignerError ? undefined : blocks[0];
  if (leaf === undefined) return undefined;
  const hash = createHash('sha256').update(leaf).digest('hex');
  const decoded = attempt(() => decodeCertificate(leaf));
  if (decoded instanceof SignerError) return { hash };
  const { notBefore, notAfter } = decoded;
  return { hash, validity: { notBefore, notAfter } };
}

/** Reduces a CertificateRequest to what is kept of it. */
export function issuedRequest(request: CertificateRequest): IssuedRequest {
  const { apiVersion, kind, metadata } = request;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const issued = issuedOf(request);
  return {
    apiVersion,
    kind,
    metadata: {
      ...{ name, uid, resourceVersion, creationTimestamp },
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

/** NaN where it is not issued. */
function issuedAt(request: CertificateRequest): number {
  const ready = findCondition(request.status?.conditions, 'Ready');
  if (ready?.status !== 'True' || !isApproved(request)) return NaN;
  return parseTime(ready.lastTransitionTime ?? request.metadata.creationTimestamp);
}

function pemOf({ status }: CertificateRequest): string {
  return Buffer.from(status?.certificate ?? '', 'base64').toString('latin1');
}

/** What a CertificateRequest and the Certificate behind it tell of a Secret. */
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
 * How long the leaf before was still valid. Where it is forgotten: as long as this one will be when it is renewed, or, where
 * nobody said, a third of its life, when cert-manager renews by default.
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

/** `metadata.managedFields`, which our types leave out. */
interface ManagedFields {
  readonly managedFields?: readonly {
    readonly time?: string;
    readonly fieldsV1?: Readonly<Record<string, unknown>>;
  }[];
}

/**
 * What a Secret itself tells, where no request is left: it was written when the newest writer of its data last wrote. Only
 * Secrets that cert-manager issued; undefined for others.
 */
export function leafOfSecret({ metadata, data = {} }: Secret): CurrentLeaf | undefined {
  const pem = Buffer.from(data['tls.crt'] ?? '', 'base64').toString('latin1');
  const summary = summaryOf(pem);
  if (summary === undefined || metadata.annotations?.[CERTIFICATE_NAME] === undefined) {
    return undefined;
  }
  const { managedFields = [] } = metadata as ManagedFields;
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
