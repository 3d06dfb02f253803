// SPDX-License-Identifier: Apache-2.0
/** Who may read which records, by SubjectAccessReviews. */
import { BoundedMap } from '../../../bounded-map.ts';
import { LEDGER_API } from '../../../api/signer/own-tls.ts';
import type { Component } from '../../../runtime/component/component.ts';
import type { ApiCaller } from './front-proxy.ts';

/** What is to be read: of one namespace, or of all and of none. */
export interface ReadAccess {
  readonly namespace?: string;
  /** Of one record. */
  readonly name?: string;
}

/** Whether somebody may. */
export type MayRead = (caller: ApiCaller, access: ReadAccess) => Promise<boolean>;

/** As long as API servers keep such answers of webhooks by default, or shorter. */
const KEPT_MILLISECONDS = 10_000;
const MOST_KEPT = 1_000;
const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean };
}

/**
 * Asks whether the verb `get` on `records` is granted, whatever the API server has asked before: it compares a search with
 * the verb `list`. Answers are kept for ten seconds.
 */
export function createMayRead({ client, clock }: Pick<Component, 'client' | 'clock'>): MayRead {
  const known = new BoundedMap<string, { readonly allowed: boolean; readonly until: number }>(
    MOST_KEPT,
  );
  return async (caller, { namespace, name }) => {
    const { username: user, uid, groups, extra } = caller;
    const spec = {
      ...{ user, uid, groups, extra },
      resourceAttributes: { ...LEDGER_API, verb: 'get', resource: 'records', namespace, name },
    };
    const key = JSON.stringify(spec);
    const found = known.get(key);
    if (found !== undefined && found.until > clock()) return found.allowed;
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec,
    };
    const review = await client.request<SubjectAccessReview>({ method: 'POST', path: PATH, body });
    const allowed = review.status?.allowed === true;
    known.set(key, { allowed, until: clock() + KEPT_MILLISECONDS });
    return allowed;
  };
}
