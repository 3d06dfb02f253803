// SPDX-License-Identifier: Apache-2.0
/** Authenticates tokens by TokenReviews of the API server. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '#base/bounded-map.ts';
import { APPEND_AUDIENCE } from '../index.ts';
import type { Component } from '#component/contract.ts';
import { CallerLookups } from './caller-lookups.ts';
import type { ApiCaller } from './api/front-proxy.ts';

/** A response to a TokenReview (authentication.k8s.io/v1). */
interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: Partial<ApiCaller>;
  };
}

interface CachedCaller {
  readonly caller: ApiCaller;
  readonly until: number;
}

/**
 * How long to cache an accepted token. A deleted ServiceAccount can append and read for that long.
 */
const KNOWN_MILLISECONDS = 60_000;
/** How long to cache a rejected token, so that repeated use costs the API server few reviews. */
const UNKNOWN_MILLISECONDS = 10_000;
/**
 * Cached callers: components, with their replicas and renewed tokens. A separate cache holds as
 * many rejected tokens.
 */
const MAX_KNOWN_CALLERS = 1_000;

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';

/** A token of a ServiceAccount (RFC 7515, JWS Compact Serialization). */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Returns the caller of a ledger token, or undefined.
 * @throws KubeError, or TooManyLookupsError
 */
export type TokenAuthenticator = (
  token: string,
  /** IP address of the client. */
  address?: string,
) => Promise<ApiCaller | undefined>;

/**
 * Checks tokens by TokenReviews for the ledger's own audience. It rejects tokens for the API server
 * or any other audience. It caches results briefly, by the hash of the token.
 */
export function createTokenAuthenticator({
  client,
  clock,
}: Pick<Component, 'client' | 'clock'>): TokenAuthenticator {
  const known = new BoundedMap<string, CachedCaller>(MAX_KNOWN_CALLERS);
  // A separate cache, so that rejected tokens never evict an accepted one.
  const rejected = new BoundedMap<string, number>(MAX_KNOWN_CALLERS);
  const lookups = new CallerLookups<ApiCaller | undefined>();
  return async (token, address = '') => {
    if (!JWT.test(token)) return undefined;
    const hash = createHash('sha256').update(token).digest('base64');
    const found = known.get(hash);
    if (found !== undefined && found.until > clock()) return found.caller;
    if ((rejected.get(hash) ?? 0) > clock()) return undefined;
    const lookup = { key: hash, address, isKnown: found !== undefined };
    return lookups.find(lookup, () => review(token, hash));
  };

  async function review(token: string, hash: string): Promise<ApiCaller | undefined> {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [APPEND_AUDIENCE] },
    };
    const answer = await client.request<TokenReview>({ method: 'POST', path: PATH, body });
    const caller = meantFor(answer);
    if (caller === undefined) {
      known.delete(hash);
      rejected.set(hash, clock() + UNKNOWN_MILLISECONDS);
    } else known.set(hash, { caller, until: clock() + KNOWN_MILLISECONDS });
    return caller;
  }
}

/** Returns the caller of a token, or undefined if the token is for another audience. */
function meantFor({ status = {} }: TokenReview): ApiCaller | undefined {
  const { authenticated, audiences, user } = status;
  const isMeant = authenticated === true && audiences?.includes(APPEND_AUDIENCE) === true;
  return isMeant && user !== undefined ? callerOf(user) : undefined;
}

function callerOf(
  user: NonNullable<NonNullable<TokenReview['status']>['user']>,
): ApiCaller | undefined {
  const { username = '', uid = '', groups = [], extra = {} } = user;
  if (username === '') return undefined;
  return { username, ...(uid === '' ? {} : { uid }), groups, extra };
}

/**
 * Returns the component of a ServiceAccount, or undefined if the account does not belong to this
 * installation.
 */
export function componentOf(username: string, namespace: string): string | undefined {
  const prefix = `system:serviceaccount:${namespace}:countersign-`;
  return username.startsWith(prefix) ? username.slice(prefix.length) : undefined;
}
