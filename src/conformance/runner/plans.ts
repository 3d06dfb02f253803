// SPDX-License-Identifier: Apache-2.0
/** Defines the common parts of the plans of every kind. */
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { ConformanceProfile } from '../profile.ts';
import { NO_NAMES, type LeafNames, type RequestedLeaf } from '../observed-request.ts';

/** The lifetime of an ordinary request, and the shortest that PodCertificateRequestSpec allows. */
export const HOUR_SECONDS = 3600;

/** A lifetime that no signer should give. */
export const TEN_YEARS_SECONDS = 10 * 365 * 24 * HOUR_SECONDS;

/**
 * The number of requests in a burst: enough to be handled at the same time, too few to be a load.
 */
export const BURST_SIZE = 10;

/** The common fields of every kind's plan of a request. */
export interface RequestPlan {
  /** The name of the scenario, or `burst` for a request of the burst. */
  readonly scenario: string;
  readonly requested: RequestedLeaf;
}

/** Labels or annotations of an object that no signer knows. */
export const UNKNOWN_KEY = 'conformance.example.com/unknown';

/** Names and addresses reserved for documentation (RFC 2606, RFC 5737). */
export const ALTERNATIVE_NAMES = {
  dnsNames: ['conformance.example.com'],
  ipAddresses: ['192.0.2.1'],
  uris: ['https://conformance.example.com/a'],
} as const satisfies Partial<LeafNames>;

/**
 * Returns the names of an ordinary request. @param username - the user of the run, for `{username}`
 * in the profile
 */
export function ordinaryNames(
  { commonName, organizations, dnsNames }: ConformanceProfile,
  username: string,
): LeafNames {
  return {
    ...NO_NAMES,
    commonName: commonName.replaceAll('{username}', username),
    organizations,
    dnsNames,
  };
}

/** Returns a key that is too weak for any signer: RSA with 1024 bits. */
export async function weakKey(): Promise<KeyObject> {
  const pair = await promisify(generateKeyPair)('rsa', {
    modulusLength: 1024,
    publicExponent: 65_537,
  });
  return pair.privateKey;
}
