// SPDX-License-Identifier: Apache-2.0
/**
 * Authenticates direct requests, which do not come through the aggregated API. The caller is the
 * author of the CertificateSigningRequest whose key signed the request.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { hasTrueCondition } from '#api/request/conditions.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import { READER_SIGNER } from '#api/signer/own-tls.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { resource } from '#kube/resource/resource.ts';
import { decodePem } from '#pki/der/pem.ts';
import { decodeRequest } from '#pki/x509/pkcs10.ts';
import type { Component } from '#component/contract.ts';
import { CallerLookups } from '../caller-lookups.ts';
import type { ApiRequest } from './answer.ts';
import type { ApiCaller } from './front-proxy.ts';
import { isSignedBy, READER_HEADER, READER_SECONDS, SIGNATURE_HEADER } from './signed-request.ts';

/**
 * Returns the signer of a request, or undefined without a signature or for an unusable object.
 * @throws KubeError, or TooManyLookupsError
 */
export type ReaderOf = (request: ApiRequest) => Promise<ApiCaller | undefined>;

/** A usable CertificateSigningRequest. */
interface Reader {
  readonly caller: ApiCaller;
  readonly uid: string;
  readonly key: KeyObject;
  /** Time at which it is read again, because it may be denied or deleted meanwhile. */
  readonly until: number;
}

/**
 * How long to cache a reader. A person whose object is denied or deleted can read for that long.
 */
const READER_KNOWN_MS = 30_000;
/** How long to cache a wrong name, so that repeated use costs the API server few calls. */
const REJECTED_MS = 10_000;
const MAX_KNOWN_CALLERS = 1_000;
/** Tolerance for a clock of the API server that is ahead. */
const AHEAD_MS = 60_000;

const REQUESTS = resource(CSR_RESOURCE);
/** A name as the API server accepts it (DNS subdomain). */
const NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;

/** Returns a function that reads CertificateSigningRequests by name and caches them briefly. */
export function createReaders({ client, clock }: Pick<Component, 'client' | 'clock'>): ReaderOf {
  const known = new BoundedMap<string, Reader>(MAX_KNOWN_CALLERS);
  // A separate cache, so that wrong names never evict a reader.
  const rejected = new BoundedMap<string, number>(MAX_KNOWN_CALLERS);
  const lookups = new CallerLookups<Reader | undefined>();
  async function readerNamed(name: string, address = ''): Promise<Reader | undefined> {
    const found = known.get(name);
    if (found !== undefined && found.until > clock()) return found;
    if ((rejected.get(name) ?? 0) > clock()) return undefined;
    return lookups.find({ key: name, address, isKnown: found !== undefined }, () => lookUp(name));
  }
  async function lookUp(name: string): Promise<Reader | undefined> {
    // RBAC grants the ledger list of these objects, but not get.
    const { items } = await client.request<{
      readonly items: readonly CertificateSigningRequest[];
    }>({
      method: 'GET',
      path: REQUESTS.collection(),
      query: { fieldSelector: `metadata.name=${name}` },
    });
    const csr = items.find(({ metadata }) => metadata.name === name);
    const reader = csr === undefined ? undefined : readerOf(csr, clock());
    if (reader === undefined) {
      known.delete(name);
      rejected.set(name, clock() + REJECTED_MS);
    } else known.set(name, reader);
    return reader;
  }
  return async ({ method, url, headers, address, body = '' }) => {
    const [name = ''] = headers[READER_HEADER] ?? [];
    const [signature = ''] = headers[SIGNATURE_HEADER] ?? [];
    if (signature === '' || !NAME.test(name)) return undefined;
    const reader = await readerNamed(name, address);
    if (reader === undefined) return undefined;
    const { uid, key, caller } = reader;
    return isSignedBy({ uid, method, url, body }, key, signature) ? caller : undefined;
  };
}

/**
 * Returns the reader, or undefined for an object that is for another signer, too old, denied, or
 * without an author.
 */
function readerOf(csr: CertificateSigningRequest, now: number): Reader | undefined {
  const end = endOf(csr, now);
  const caller = authorOf(csr);
  if (end === undefined || caller === undefined) return undefined;
  const key = attempt(() => keyIn(csr.spec.request));
  if (key === undefined || key instanceof SignerError) return undefined;
  const until = Math.min(end, now + READER_KNOWN_MS);
  return { caller, uid: csr.metadata.uid, key, until };
}

/** Returns the time until which an object is usable, or undefined if it is not. */
function endOf(
  { metadata, spec, status }: CertificateSigningRequest,
  now: number,
): number | undefined {
  const created = Date.parse(metadata.creationTimestamp);
  const end = created + READER_SECONDS * 1000;
  const isInTime = created <= now + AHEAD_MS && now < end;
  const isDenied = hasTrueCondition(status?.conditions, 'Denied');
  return spec.signerName === READER_SIGNER && isInTime && !isDenied ? end : undefined;
}

/** Returns the author, as the API server recorded it. */
function authorOf({ spec }: CertificateSigningRequest): ApiCaller | undefined {
  const { username = '', uid = '', groups = [], extra = {} } = spec;
  if (username === '') return undefined;
  return { username, ...(uid === '' ? {} : { uid }), groups, extra };
}

/**
 * Returns the key, or undefined if OpenSSL cannot read it. @throws SignerError if the request is
 * not PKCS#10
 */
function keyIn(request: string): KeyObject | undefined {
  const pem = Buffer.from(request, 'base64').toString('latin1');
  const { publicKey } = decodeRequest(decodePem(pem, 'CERTIFICATE REQUEST'));
  try {
    return createPublicKey({ key: Buffer.from(publicKey.spki), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}
