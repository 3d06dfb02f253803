// SPDX-License-Identifier: Apache-2.0
/** Who may read which records, and who may remove them, by SubjectAccessReviews. */
import { BoundedMap } from '../../../bounded-map.ts';
import { LEDGER_API } from '../../../api/signer/own-tls.ts';
import type { Component } from '../../../runtime/component/component.ts';
import type { ApiCaller } from './front-proxy.ts';

/** What is to be read or removed: of one namespace, or of all and of none. */
export interface RecordAccess {
  readonly namespace?: string;
  /** Of one record. */
  readonly name?: string;
}

/** Whether somebody may. */
export type MayDo = (caller: ApiCaller, access: RecordAccess) => Promise<boolean>;

/** Virtual resources and the verb that is asked for each. */
const RIGHTS = {
  read: { verb: 'get', resource: 'records' },
  // Not the verb delete of records: the namespace controller has it, for all that a namespace has.
  erase: { verb: 'create', resource: 'erasures' },
} as const;

/** As long as API servers keep such answers of webhooks by default, or shorter. */
const KEPT_MILLISECONDS = 10_000;
const MOST_KEPT = 1_000;
const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

interface SubjectAccessReview {
  readonly status?: { readonly allowed?: boolean };
}

/**
 * Asks whether `get` on `records`, or `create` on `erasures`, is granted, whatever the API server has asked before: it
 * compares a search with the verb `list`. Answers are kept for ten seconds.
 */
export function createMay(
  { client, clock }: Pick<Component, 'client' | 'clock'>,
  right: keyof typeof RIGHTS,
): MayDo {
  const known = new BoundedMap<string, { readonly allowed: boolean; readonly until: number }>(
    MOST_KEPT,
  );
  return async (caller, { namespace, name }) => {
    const { username: user, uid, groups, extra } = caller;
    const spec = {
      ...{ user, uid, groups, extra },
      resourceAttributes: { ...LEDGER_API, ...RIGHTS[right], namespace, name },
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
