// SPDX-License-Identifier: Apache-2.0
/** The CertificateRequest by which an issuer of cert-manager signs a managed CA. */
import { createHash } from 'node:crypto';
import { findCondition } from '#api/request/conditions.ts';
import {
  CERTIFICATE_REQUEST_RESOURCE,
  isDenied,
  type CertificateRequest,
} from '#api/request/certificate-request.ts';
import { parseDuration } from '#api/object/duration.ts';
import { parseTime } from '#api/object/time.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { MAX_UPSTREAM_CHAIN } from '#api/signer/cluster-signer-limits.ts';
import type { CertManagerUpstream, ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  chainTooLong,
  requestDenied,
  requestFailed,
  requestForeign,
} from '#ca/upstream/refusals.ts';
import { quote } from '#base/quote.ts';
import { resource } from '#kube/resource/resource.ts';
import type { UpstreamVerdict } from './answer.ts';
import * as messages from '../messages.ts';

export const CERTIFICATE_REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);

/** A request for an issuer of cert-manager. */
export interface WantedRequest {
  readonly signer: ClusterSigner;
  readonly upstream: CertManagerUpstream;
  /** PEM of the PKCS#10 request. */
  readonly request: string;
  /** Duration of the CA. */
  readonly duration: string;
}

/** A CertificateRequest before it is created. */
export interface NewRequest extends Pick<CertificateRequest, 'apiVersion' | 'kind' | 'spec'> {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
}

/** Characters of the signer's name in that of its request, which has 253 at most. */
const MAX_NAME_PART = 200;
const NAME_DIGEST_DIGITS = 16;

/** Usages of a CA. `isCA` alone would not request cRLSign. */
const USAGES = ['cert sign', 'crl sign'] as const;

/**
 * Returns the object to create. Its name derives from its spec, and so from the key: after a lost
 * response the same request is found again, and another key or issuer has a request of its own.
 */
export function certificateRequestOf(wanted: WantedRequest): NewRequest {
  const { signer, upstream, request, duration } = wanted;
  const spec = {
    request: Buffer.from(request, 'latin1').toString('base64'),
    issuerRef: upstream.issuerRef,
    duration: `${parseDuration(duration)}s`,
    isCA: true,
    usages: USAGES,
  };
  const { name, kind, group } = upstream.issuerRef;
  const content = JSON.stringify([spec.request, name, kind, group, spec.duration]);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, NAME_DIGEST_DIGITS);
  const shown = signer.metadata.name.slice(0, MAX_NAME_PART).replace(/[.-]+$/, '');
  return {
    apiVersion: CERTIFICATE_REQUESTS.apiVersion,
    kind: 'CertificateRequest',
    metadata: {
      namespace: upstream.namespace,
      name: `countersign-${shown}-${digest}`,
      labels: { 'app.kubernetes.io/managed-by': 'countersign' },
      annotations: { [SIGNER_NAME]: signer.spec.signerName },
    },
    spec,
  };
}

/** Returns the answer in the CertificateRequest of the cluster. */
export function verdictOf(found: CertificateRequest, wanted: NewRequest): UpstreamVerdict {
  const named = requestText(wanted);
  if (!isSameRequest(found, wanted)) return { kind: 'refused', refusal: requestForeign(named) };
  const { conditions, certificate = '' } = found.status ?? {};
  const refused = deniedOf(found, named) ?? failedOf(found, named);
  if (refused !== undefined) return refused;
  if (findCondition(conditions, 'Ready')?.status !== 'True' || certificate === '') {
    return { kind: 'waiting', message: waitingText(found, named) };
  }
  return chainOf(found);
}

/** Returns the refusal by the approver. Undefined if there is none. */
function deniedOf(found: CertificateRequest, named: string): UpstreamVerdict | undefined {
  const { conditions, failureTime } = found.status ?? {};
  const [denied, ready] = ['Denied', 'Ready'].map((type) => findCondition(conditions, type));
  if (!isDenied(found) && ready?.reason !== 'Denied') return undefined;
  const problem = quote((denied ?? ready)?.message ?? '', MAX_FOREIGN_TEXT);
  const at = timeOf(failureTime) ?? timeOf(denied?.lastTransitionTime);
  return { kind: 'refused', refusal: requestDenied(named, problem), at };
}

/** Returns the refusal by the issuer. Undefined if there is none. */
function failedOf({ status }: CertificateRequest, named: string): UpstreamVerdict | undefined {
  const { conditions } = status ?? {};
  const [ready, invalid] = ['Ready', 'InvalidRequest'].map((type) =>
    findCondition(conditions, type),
  );
  if (ready?.reason !== 'Failed' && invalid?.status !== 'True') return undefined;
  const problem = quote((ready ?? invalid)?.message ?? '', MAX_FOREIGN_TEXT);
  return {
    kind: 'refused',
    refusal: requestFailed(named, problem),
    at: timeOf(status?.failureTime),
  };
}

/** Returns `CertificateRequest <namespace>/<name>`. */
function requestText({ metadata }: NewRequest): string {
  return `CertificateRequest ${metadata.namespace}/${metadata.name}`;
}

/** Characters of a text of cert-manager or of its issuer in a condition. */
const MAX_FOREIGN_TEXT = 300;

function waitingText({ spec, status }: CertificateRequest, named: string): string {
  const approved = findCondition(status?.conditions, 'Approved');
  if (approved?.status !== 'True') return messages.requestNotApproved(named);
  const { kind = '', name } = spec.issuerRef;
  const ready = findCondition(status?.conditions, 'Ready');
  return messages.requestNotIssued(
    named,
    `${kind} ${name}`,
    quote(ready?.message ?? '', MAX_FOREIGN_TEXT),
  );
}

/** Compares the parts that an issuer signs. Another client may have created the object. */
function isSameRequest(found: CertificateRequest, wanted: NewRequest): boolean {
  const { request, issuerRef, isCA } = found.spec;
  const ref = wanted.spec.issuerRef;
  return (
    request === wanted.spec.request &&
    issuerRef.name === ref.name &&
    issuerRef.kind === ref.kind &&
    issuerRef.group === ref.group &&
    isCA === true
  );
}

/**
 * Returns the chain. `status.ca` is the root or the issuing CA, as far as the issuer knows it, and
 * `status.certificate` may have it as well.
 */
function chainOf({ status }: CertificateRequest): UpstreamVerdict {
  const [chain = '', ca = ''] = [status?.certificate, status?.ca].map(textOf);
  if (chain.length + ca.length > MAX_UPSTREAM_CHAIN) {
    return { kind: 'refused', refusal: chainTooLong() };
  }
  const blocks = [...chain.matchAll(BLOCK), ...ca.matchAll(BLOCK)].map(([block]) => `${block}\n`);
  return { kind: 'chain', chain: [...new Set(blocks)].join('') };
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Decodes base64. Line endings are those of this program, so that equal blocks are equal texts. */
function textOf(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64')
    .toString('latin1')
    .replaceAll('\r\n', '\n');
}

function timeOf(text: string | undefined): number | undefined {
  const time = parseTime(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
