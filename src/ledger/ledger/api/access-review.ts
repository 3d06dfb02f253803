// SPDX-License-Identifier: Apache-2.0
/** Authorizes reading and removing records by SubjectAccessReviews. */
import { BoundedMap } from '#base/bounded-map.ts';
import { LEDGER_API } from '#api/signer/own-tls.ts';
import type { Component } from '#component/contract.ts';
import type { ApiCaller } from './front-proxy.ts';

/** The scope of an access: one namespace, or the cluster if absent. */
export interface RecordAccess {
  readonly namespace?: string;
  /** Name of a single record. */
  readonly name?: string;
}

/** Reports whether RBAC allows the access. */
export type Authorizer = (caller: ApiCaller, access: RecordAccess) => Promise<boolean>;

/** Virtual resources and their verbs. */
const RIGHTS = {
  read: { verb: 'get', resource: 'records' },
  list: { verb: 'list', resource: 'records' },
  // Not the verb delete of records, which the namespace controller has for all objects of a
  // namespace.
  erase: { verb: 'create', resource: 'erasures' },
} as const;

/** How long to cache a result: at most the default of API servers for webhook authorizers. */
const KEPT_MILLISECONDS = 10_000;
const MAX_CACHED_REVIEWS = 1_000;
const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean };
}

/**
 * Returns an authorizer for `get` or `list` on `records`, or `create` on `erasures`. It repeats the
 * API server's own check, and caches results for ten seconds.
 */
export function createAuthorizer(
  { client, clock }: Pick<Component, 'client' | 'clock'>,
  right: keyof typeof RIGHTS,
): Authorizer {
  // Separate caches, so that callers without permission evict each other, never readers.
  const known = {
    allowed: new BoundedMap<string, number>(MAX_CACHED_REVIEWS),
    denied: new BoundedMap<string, number>(MAX_CACHED_REVIEWS),
  };
  return async (caller, { namespace, name }) => {
    const { username: user, uid, groups, extra } = caller;
    const spec = {
      user,
      uid,
      groups,
      extra,
      resourceAttributes: { ...LEDGER_API, ...RIGHTS[right], namespace, name },
    };
    const key = JSON.stringify(spec);
    if ((known.allowed.get(key) ?? 0) > clock()) return true;
    if ((known.denied.get(key) ?? 0) > clock()) return false;
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec,
    };
    const review = await client.request<SubjectAccessReview>({ method: 'POST', path: PATH, body });
    const allowed = review.status?.allowed === true;
    known[allowed ? 'allowed' : 'denied'].set(key, clock() + KEPT_MILLISECONDS);
    return allowed;
  };
}
