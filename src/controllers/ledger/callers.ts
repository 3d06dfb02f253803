// SPDX-License-Identifier: Apache-2.0
/** Whose token it is, as the API server says. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../bounded-map.ts';
import { APPEND_AUDIENCE } from '../../ledger/index.ts';
import type { Component } from '../../runtime/component/component.ts';

/** The answer to a TokenReview (authentication.k8s.io/v1). */
interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: { readonly username?: string };
  };
}

interface Known {
  readonly username: string | undefined;
  readonly until: number;
}

/** A deleted ServiceAccount can append for so long. */
const KNOWN_MILLISECONDS = 60_000;
/** Whoever sends a wrong token again and again costs the API server one review in that time. */
const UNKNOWN_MILLISECONDS = 10_000;
/** Components, with their replicas and renewed tokens. */
const MOST_KNOWN = 1_000;

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';

/** Asks who has a token for the ledger. */
export type WhoIs = (token: string) => Promise<string | undefined>;

/**
 * Checks tokens by TokenReviews, for the audience of appends only: a token for the API server, or for anybody else, is
 * none. Answers are kept briefly, by the hash of the token.
 */
export function createWhoIs({ client, clock }: Pick<Component, 'client' | 'clock'>): WhoIs {
  const known = new BoundedMap<string, Known>(MOST_KNOWN);
  return async (token) => {
    if (token === '') return undefined;
    const hash = createHash('sha256').update(token).digest('base64');
    const found = known.get(hash);
    if (found !== undefined && found.until > clock()) return found.username;
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [APPEND_AUDIENCE] },
    };
    const review = await client.request<TokenReview>({ method: 'POST', path: PATH, body });
    const username = meantFor(review);
    const kept = username === undefined ? UNKNOWN_MILLISECONDS : KNOWN_MILLISECONDS;
    known.set(hash, { username, until: clock() + kept });
    return username;
  };
}

/** Whose token it is; nothing unless it is for the audience of appends. */
function meantFor({ status = {} }: TokenReview): string | undefined {
  const { authenticated, audiences, user } = status;
  const isMeant = authenticated === true && audiences?.includes(APPEND_AUDIENCE) === true;
  return isMeant ? user?.username : undefined;
}

/** The component whose ServiceAccount this is; nothing if it is none of this installation. */
export function componentOf(username: string, namespace: string): string | undefined {
  const prefix = `system:serviceaccount:${namespace}:countersign-`;
  return username.startsWith(prefix) ? username.slice(prefix.length) : undefined;
}
