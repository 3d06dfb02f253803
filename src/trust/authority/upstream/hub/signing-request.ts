// SPDX-License-Identifier: Apache-2.0
/** The CertificateSigningRequest by which a hub signs the CA of a member. */
import { createHash } from 'node:crypto';
import { findCondition, type Condition } from '#api/request/conditions.ts';
import type { CertificateSigningRequest } from '#api/request/csr.ts';
import { parseDuration } from '#api/object/duration.ts';
import { parseTime } from '#api/object/time.ts';
import type { CsrUpstream } from '#api/signer/cluster-signer.ts';
import { memberRequestName } from '#api/signer/upstream-hub.ts';
import { MAX_UPSTREAM_CHAIN } from '#api/signer/cluster-signer-limits.ts';
import { quote } from '#base/quote.ts';
import {
  chainTooLong,
  requestDenied,
  requestFailed,
  requestForeign,
} from '#ca/upstream/refusals.ts';
import type { UpstreamVerdict } from '../answer.ts';
import * as messages from './messages.ts';

/** A CertificateSigningRequest before it is created. */
export interface NewSigningRequest {
  readonly apiVersion: 'certificates.k8s.io/v1';
  readonly kind: 'CertificateSigningRequest';
  readonly metadata: { readonly name: string };
  readonly spec: {
    /** base64 of PEM. */
    readonly request: string;
    readonly signerName: string;
    readonly usages: readonly string[];
    readonly expirationSeconds: number;
  };
}

/** `crl sign` as well: a CA may get `profile.crl` later. */
const USAGES = ['cert sign', 'crl sign'] as const;

/** Limits of `spec.expirationSeconds` (int32, and ten minutes). The hub grants less. */
const MAX_REQUESTED_LIFE = 2_147_483_647;
const MIN_SECONDS = 600;

/** A request of a member before the credential names its account. */
export interface UpstreamRequest {
  readonly upstream: CsrUpstream;
  /** PEM: the PKCS#10 request. */
  readonly pem: string;
  /** Go duration. */
  readonly duration: string;
}

/**
 * Returns the object to create. Its name derives from the request, and so from the key: after a
 * lost response the same request is found again.
 *
 * @param namespace - that of the account of the member on the hub
 */
export function signingRequestOf(
  { upstream: { cluster, signerName }, pem, duration }: UpstreamRequest,
  namespace: string,
): NewSigningRequest {
  const digest = createHash('sha256').update(pem).digest();
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: memberRequestName({ cluster, namespace }, digest[0] ?? 0) },
    spec: {
      request: Buffer.from(pem, 'latin1').toString('base64'),
      signerName,
      usages: USAGES,
      expirationSeconds: Math.min(
        Math.max(parseDuration(duration), MIN_SECONDS),
        MAX_REQUESTED_LIFE,
      ),
    },
  };
}

/** Characters of a text of the hub in a condition. */
const MAX_FOREIGN_TEXT = 300;

/** Returns the answer in the request on the hub. A chain lacks its root. */
export function verdictOf(
  found: CertificateSigningRequest,
  { metadata: { name }, spec }: NewSigningRequest,
): UpstreamVerdict {
  const named = `CertificateSigningRequest ${name}`;
  // Another client, or a request for another key of this member, may have the name.
  if (found.spec.request !== spec.request || found.spec.signerName !== spec.signerName) {
    return { kind: 'refused', refusal: requestForeign(messages.onHub(named)) };
  }
  const { conditions, certificate = '' } = found.status ?? {};
  const [denied, failed] = ['Denied', 'Failed'].map((type) => trueCondition(conditions, type));
  if (denied !== undefined) return refusedBy(denied, requestDenied, named);
  if (failed !== undefined) return refusedBy(failed, requestFailed, named);
  if (certificate !== '') return chainOf(certificate);
  const message =
    trueCondition(conditions, 'Approved') === undefined
      ? messages.waitingForApproval(named)
      : messages.waitingForCertificate(named);
  return { kind: 'waiting', message };
}

function trueCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  const found = findCondition(conditions, type);
  return found?.status === 'True' ? found : undefined;
}

/** Returns the refusal in a condition of the hub. */
function refusedBy(
  { message = '', lastTransitionTime = '' }: Condition,
  refusalOf: typeof requestDenied,
  named: string,
): UpstreamVerdict {
  const time = parseTime(lastTransitionTime);
  const refusal = refusalOf(named, quote(message, MAX_FOREIGN_TEXT));
  return { kind: 'refused', refusal, at: Number.isNaN(time) ? undefined : time };
}

function chainOf(certificate: string): UpstreamVerdict {
  const chain = Buffer.from(certificate, 'base64').toString('latin1');
  if (chain.length > MAX_UPSTREAM_CHAIN) return { kind: 'refused', refusal: chainTooLong() };
  return { kind: 'chain', chain };
}
