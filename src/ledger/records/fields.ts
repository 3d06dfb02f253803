// SPDX-License-Identifier: Apache-2.0
/**
 * Members of records that an installation may leave out, because they are personal or reveal too
 * much.
 */
import { OMITTABLE_FIELDS, type OmittableField } from '#base/vocabulary.ts';
import type { LedgerRecord } from './record.ts';

type RequestRecord = Extract<LedgerRecord, { readonly request: object }>;

/** Returns the record without the given members. */
export function withoutFields(
  record: LedgerRecord,
  omitted: ReadonlySet<OmittableField>,
): LedgerRecord {
  if (omitted.size === 0 || !('request' in record)) return record;
  const { request, requester, decision, ...rest } = record;
  const isLeftOut = (field: OmittableField): boolean => omitted.has(field);
  const kept = withoutDecision(decision, isLeftOut);
  // Members are only left out where the type allows it.
  const whole = {
    ...rest,
    request: withoutRequest(request, isLeftOut),
    requester: withoutRequester(requester, isLeftOut),
    ...(kept === undefined ? {} : { decision: kept }),
  } as RequestRecord;
  return 'message' in whole && isLeftOut('message') ? { ...whole, message: '' } : whole;
}

type IsLeftOut = (field: OmittableField) => boolean;

function withoutRequest(
  request: RequestRecord['request'],
  isLeftOut: IsLeftOut,
): RequestRecord['request'] {
  const { pkcs10, publicKey, annotations, ...rest } = request;
  return {
    ...rest,
    ...(pkcs10 === undefined || isLeftOut('request') ? {} : { pkcs10 }),
    ...(publicKey === undefined || isLeftOut('request') ? {} : { publicKey }),
    ...(annotations === undefined || isLeftOut('annotations') ? {} : { annotations }),
  };
}

function withoutRequester(
  requester: RequestRecord['requester'],
  isLeftOut: IsLeftOut,
): RequestRecord['requester'] {
  const { user, node, ...rest } = requester;
  return {
    ...rest,
    ...(user === undefined || isLeftOut('user') ? {} : { user: withoutGroups(user, isLeftOut) }),
    ...(node === undefined || isLeftOut('node') ? {} : { node }),
  };
}

type User = NonNullable<RequestRecord['requester']['user']>;

function withoutGroups({ groups, ...user }: User, isLeftOut: IsLeftOut): User {
  return groups === undefined || isLeftOut('groups') ? user : { ...user, groups };
}

function withoutDecision(
  decision: RequestRecord['decision'],
  isLeftOut: IsLeftOut,
): RequestRecord['decision'] | undefined {
  if (decision === undefined) return undefined;
  const { by, stated, ...rest } = decision;
  const kept = {
    ...rest,
    ...(by === undefined || isLeftOut('approver') ? {} : { by }),
    ...(stated === undefined || isLeftOut('stated') ? {} : { stated }),
  };
  return Object.keys(kept).length === 0 ? undefined : kept;
}

const ALL: ReadonlySet<OmittableField> = new Set(OMITTABLE_FIELDS);

/**
 * Returns the members that no setting can omit. Two records with one key are the same if these are
 * equal.
 */
export function comparable(record: LedgerRecord): LedgerRecord {
  return withoutFields(record, ALL);
}
