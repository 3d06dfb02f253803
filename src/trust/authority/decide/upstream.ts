// SPDX-License-Identifier: Apache-2.0
/** The key of a managed CA that waits for a certificate from an upstream CA. */
import type { ClusterSigner, ManagedAuthority } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import {
  PENDING_KEY,
  PENDING_REQUEST,
  REQUESTED_AT,
  REQUEST_ATTEMPTS,
} from '#api/signer/rotation-annotations.ts';
import { parseTime } from '#api/object/time.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { pathLenOf } from '#ca/issuance/ca-certificate.ts';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import type { UpstreamState } from '#ca/rotation/next-step.ts';
import { isNamed } from '#ca/rotation/rotation-reason.ts';
import { isRefusal, judgeChain, type AcceptedChain } from '#ca/upstream/judge-chain.ts';
import { readChain } from '#ca/upstream/read-chain.ts';
import { pathInvalid, type ChainRefusal } from '#ca/upstream/refusals.ts';
import { wantedCaOf } from '#ca/upstream/wanted-ca.ts';
import { OID_ORGANIZATION } from '#pki/der/oids.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { commonNamesOf } from '#pki/names/distinguished-name.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { decodeRequest, type CertificationRequest } from '#pki/x509/pkcs10.ts';
import { slotMaterial, type Inspect } from './inspect.ts';
import type { SignerSnapshot } from './snapshot.ts';
import type { UpstreamAnswer } from '../upstream/answer.ts';
import * as messages from '../messages.ts';

/** The request for the key that waits. */
export interface PendingRequest {
  readonly request: CertificationRequest;
  readonly pem: string;
  /** RFC 3339. */
  readonly requestedAt: string;
}

type SnapshotOfUpstream = Pick<SignerSnapshot, 'signer' | 'inspect' | 'now' | 'upstreamAnswer'>;

/** Findings about a managed CA with an upstream CA. */
export interface UpstreamFinding {
  readonly state: UpstreamState;
  /** Absent while no certificate is awaited. */
  readonly pending?: PendingRequest;
  /** Reason to refuse the chain, or of the upstream CA to sign none. */
  readonly refusal?: ChainRefusal | undefined;
  /** Milliseconds: when a new key and request replace those that were refused. */
  readonly retryAt?: number | undefined;
  /** The answer of an upstream CA that `authority` calls by itself. */
  readonly answer?: UpstreamAnswer | undefined;
}

/** @returns undefined if the CA signs its own certificate */
export function upstreamOf(
  snapshot: SnapshotOfUpstream,
  secret: Secret | undefined,
): UpstreamFinding | undefined {
  const { managed } = snapshot.signer.spec.authority;
  if (managed?.upstream === undefined) return undefined;
  const waitsFor = messages.WAITS_FOR_CERTIFICATE;
  const pending = secret && pendingIn(secret, managed);
  if (secret === undefined || pending === undefined) {
    return { state: { next: 'request', waitsFor } };
  }
  const answer = calledAnswer(snapshot);
  const refusal = refusalOf(snapshot, secret, pending);
  if (refusal === 'none') return { pending, answer, state: { next: 'install', waitsFor } };
  const retryAt = refusal && retryTime(secret, pending, { refusal, answer, now: snapshot.now });
  const isDue = retryAt !== undefined && snapshot.now >= retryAt;
  return {
    pending,
    answer,
    refusal,
    retryAt,
    state: { next: isDue ? 'request' : 'wait', waitsFor },
  };
}

/** Returns the answer, unless a user carries the request. */
function calledAnswer({ signer, upstreamAnswer }: SnapshotOfUpstream): UpstreamAnswer | undefined {
  return isManual(signer) ? undefined : upstreamAnswer;
}

/** Reports whether a user carries the request to the upstream CA. */
function isManual({ spec }: ClusterSigner): boolean {
  return spec.authority.managed?.upstream?.manual !== undefined;
}

/** @returns `none` if the chain is accepted, and undefined while there is none */
function refusalOf(
  snapshot: SnapshotOfUpstream,
  secret: Secret,
  { request }: PendingRequest,
): ChainRefusal | 'none' | undefined {
  const { signer, inspect, now } = snapshot;
  const answer = calledAnswer(snapshot);
  if (answer?.kind === 'refused' || answer?.kind === 'unavailable') return answer.refusal;
  const wanted = wantedCaOf(signer);
  const chain = chainFor(signer, returnedChain(answer));
  if (wanted === undefined || chain === undefined) return undefined;
  if (isKnownChain(chain, signer, secret)) return undefined;
  const judged = judgeChain({ chain, request, wanted, now });
  return (isRefusal(judged) ? judged : openingFault(secret, judged, inspect)) ?? 'none';
}

/** Returns the chain to check: that of the spec, or the one that the upstream CA returned. */
function chainFor(signer: ClusterSigner, returned: string | undefined): string | undefined {
  return isManual(signer) ? signer.spec.authority.managed?.upstream?.manual?.chain : returned;
}

/** Returns the chain that an upstream CA returned by itself. */
export function returnedChain(answer: UpstreamAnswer | undefined): string | undefined {
  return answer?.kind === 'chain' ? answer.chain : undefined;
}

/** Delay of a new request after a refused one, doubled for each. */
const FIRST_NEW_KEY_MS = 600_000;
/** Limit on that delay. */
const MAX_NEW_KEY_MS = 8 * 3_600_000;

/** Refusals that another certificate would get as well. */
const NOT_BY_ISSUER: readonly string[] = ['ConsentMissing', 'CertificateNotYetValid'];

/**
 * Returns when a new key and request replace refused ones, in milliseconds. Undefined if a user
 * carries the request, if another request would not help, or if the same one is tried again.
 */
function retryTime(
  secret: Secret,
  { requestedAt }: PendingRequest,
  {
    refusal,
    answer,
    now,
  }: {
    readonly refusal: ChainRefusal;
    readonly answer: UpstreamAnswer | undefined;
    readonly now: number;
  },
): number | undefined {
  if (answer === undefined || answer.kind === 'unavailable') return undefined;
  if (NOT_BY_ISSUER.includes(refusal.reason)) return undefined;
  const refusedAt = answer.kind === 'refused' ? (answer.at ?? 0) : 0;
  // The issuer or a wrong clock wrote these times. One in the far future would end all attempts.
  const times = [parseTime(requestedAt), refusedAt].filter((at) => at <= now + FIRST_NEW_KEY_MS);
  const since = Math.max(0, ...times);
  const doublings = Math.min(attemptsOf(secret) - 1, 10);
  return since + Math.min(FIRST_NEW_KEY_MS * 2 ** doublings, MAX_NEW_KEY_MS);
}

/** Returns the number of keys that waited in a row, including the one in the Secret. */
export function attemptsOf({ data = {}, metadata }: Secret): number {
  if (data[PENDING_KEY] === undefined) return 0;
  const attempts = Number(metadata.annotations?.[REQUEST_ATTEMPTS] ?? 1);
  return Number.isSafeInteger(attempts) && attempts > 0 ? attempts : 1;
}

/** Returns the request of a Secret, unless the spec describes another CA by now. */
export function pendingIn(
  { data = {}, metadata }: Secret,
  managed: ManagedAuthority,
): PendingRequest | undefined {
  if (data[PENDING_KEY] === undefined) return undefined;
  const pem = Buffer.from(data[PENDING_REQUEST] ?? '', 'base64').toString('latin1');
  const request = attempt(() => decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST')));
  if (request instanceof SignerError) return undefined;
  if (!fitsSpec(request, managed)) return undefined;
  const requestedAt = metadata.annotations?.[REQUESTED_AT] ?? metadata.creationTimestamp;
  return { request, pem, requestedAt };
}

/** Reports whether a request is for the CA that the spec describes now. */
function fitsSpec(
  request: CertificationRequest,
  { keyType, commonName, crossSigned, upstream }: ManagedAuthority,
): boolean {
  return (
    request.publicKey.keyType === keyType &&
    isNamed(commonNameOf(request), commonName) &&
    organizationOf(request) === upstream?.csr?.cluster &&
    request.pathLen === pathLenOf(crossSigned)
  );
}

function commonNameOf({ subject }: CertificationRequest): string {
  return commonNamesOf(subject)[0] ?? '';
}

/** Returns the name of the cluster in a request for a hub. */
function organizationOf({ subject }: CertificationRequest): string | undefined {
  return subject.attributes.find(({ oid }) => oid === OID_ORGANIZATION)?.value;
}

/** Reports whether the chain is that of a CA which the signer already uses or used. */
function isKnownChain(chain: string, { status }: ClusterSigner, secret: Secret): boolean {
  const read = readChain(chain);
  if ('reason' in read) return false;
  const print = fingerprint(read[0].raw);
  if ((status?.authorities ?? []).some((each) => each.fingerprint === print)) return true;
  return (['tls', 'next'] as const).some((slot) => {
    const held = readChain(slotMaterial(secret, slot).certificate);
    return !('reason' in held) && fingerprint(held[0].raw) === print;
  });
}

/** Opens the CA as signers will. A chain that passes every check can still be for another key. */
function openingFault(
  secret: Secret,
  accepted: AcceptedChain,
  inspect: Inspect,
): ChainRefusal | undefined {
  const { certificate, key, anchors } = upstreamMaterial(secret, accepted);
  const data = Object.entries({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': anchors }).map(
    ([name, text]) => [name, Buffer.from(text).toString('base64')] as const,
  );
  const opened = inspect({ ...secret, data: Object.fromEntries(data) }, 'tls');
  return opened instanceof SignerError ? pathInvalid(opened.message) : undefined;
}

/** Returns the CA of the key that waits. Its chain keeps the root, which leaves do not carry. */
export function upstreamMaterial(
  { data = {} }: Secret,
  { path, anchor }: AcceptedChain,
): AuthorityMaterial & { readonly anchors: string } {
  return {
    certificate: path.map(({ raw }) => encodePem('CERTIFICATE', raw)).join(''),
    key: Buffer.from(data[PENDING_KEY] ?? '', 'base64').toString('latin1'),
    anchors: encodePem('CERTIFICATE', anchor.raw),
  };
}

/** Returns the accepted chain for the key that waits. Undefined if there is none. */
export function acceptedChain(
  { signer, chain: returned, now }: ChainInput,
  secret: Secret,
): AcceptedChain | undefined {
  const { managed } = signer.spec.authority;
  const wanted = wantedCaOf(signer);
  const pending = managed && pendingIn(secret, managed);
  const chain = chainFor(signer, returned);
  if (wanted === undefined || pending === undefined || chain === undefined) return undefined;
  const judged = judgeChain({ chain, request: pending.request, wanted, now });
  return isRefusal(judged) ? undefined : judged;
}

interface ChainInput {
  readonly signer: ClusterSigner;
  /** PEM: the chain that an upstream CA returned by itself. */
  readonly chain?: string | undefined;
  readonly now: number;
}
