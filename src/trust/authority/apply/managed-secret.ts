// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { formatDuration } from '#api/object/duration.ts';
import { formatTime } from '#api/object/time.ts';
import { CLUSTER_SIGNER_UID, SIGNER_NAME } from '#api/signer/grant.ts';
import {
  ACTIVATED_AT,
  CROSS_CERTIFICATE,
  CROSS_CERTIFICATES,
  DURATION,
  INSTALLED_AT,
  NEXT_ANCHOR,
  NEXT_CERTIFICATE,
  NEXT_DURATION,
  NEXT_INSTALLED_AT,
  NEXT_KEY,
  PENDING_KEY,
  PENDING_REQUEST,
  REQUEST_ATTEMPTS,
  REQUESTED_AT,
  RETIRED_CERTIFICATE,
  RETIRED_KEY,
  SIGNS_AT_ONCE,
  retiredId,
  retiredUntil,
} from '#api/signer/rotation-annotations.ts';
import type { AuthorityMaterial, RequestedCa } from '#ca/custody/contract.ts';
import { writeCrossRecords, type CrossRecord } from '#ca/rotation/cross-records.ts';

/** Changes of a Secret in a phase change. Null removes a key. An absent key stays. */
export interface SecretChange {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string | null>>;
  /** Plain text, not base64. */
  readonly data: Readonly<Record<string, string | null>>;
}

/** A newly created CA. */
export interface NewAuthority {
  readonly material: AuthorityMaterial;
  readonly fingerprint: string;
  readonly durationSeconds: number;
  /** RFC 3339: when its chain was installed, if an upstream CA signed it. */
  readonly installedAt?: string | undefined;
}

/**
 * Returns the labels of a Secret that Countersign created: {@link writerLabels}, and managed-by.
 */
export function ownLabels(signer: ClusterSigner, version: string): SecretChange['labels'] {
  return { 'app.kubernetes.io/managed-by': 'countersign', ...writerLabels(signer, version) };
}

/**
 * Returns labels for the signer, its generation, and the version that wrote last. They omit
 * managed-by: the installer owns the objects of our own ports, and Helm rejects an upgrade when
 * that label is not its own.
 */
export function writerLabels(signer: ClusterSigner, version: string): SecretChange['labels'] {
  return {
    'app.kubernetes.io/version': version,
    'countersign.dev/owner': signer.metadata.uid,
    'countersign.dev/generation': String(signer.metadata.generation ?? 0),
  };
}

/**
 * Returns the annotations of consent and ownership, which mark a Secret that we may write again.
 */
export function ownAnnotations(signer: ClusterSigner): Readonly<Record<string, string>> {
  return {
    [SIGNER_NAME]: signer.spec.signerName,
    [CLUSTER_SIGNER_UID]: signer.metadata.uid,
  };
}

const NO_NEXT = {
  annotations: { [NEXT_DURATION]: null, [NEXT_INSTALLED_AT]: null },
  data: { [NEXT_CERTIFICATE]: null, [NEXT_KEY]: null, [NEXT_ANCHOR]: null },
} as const;

const NO_PENDING = {
  annotations: { [REQUESTED_AT]: null, [REQUEST_ATTEMPTS]: null },
  data: { [PENDING_KEY]: null, [PENDING_REQUEST]: null },
} as const;

type Change = Omit<SecretChange, 'labels'>;

/** The Secret's record of a CA that becomes active. */
export interface CaActivation {
  /** Milliseconds. */
  readonly now: number;
  readonly atOnce: boolean;
  /** The certificate that the previous CA issued for the new one. */
  readonly cross: string | undefined;
  /** All cross-certificates that were made and have not expired, including this one. */
  readonly records: readonly CrossRecord[];
}

/** Makes the CA sign, at once or after its anchor has propagated. Removes any prepared CA. */
export function intoTls(made: NewAuthority, { now, atOnce, cross, records }: CaActivation): Change {
  return {
    annotations: {
      ...NO_NEXT.annotations,
      [DURATION]: formatDuration(made.durationSeconds),
      [INSTALLED_AT]: made.installedAt ?? null,
      [ACTIVATED_AT]: new Date(now).toISOString(),
      [SIGNS_AT_ONCE]: atOnce ? made.fingerprint : null,
      [CROSS_CERTIFICATES]: writeCrossRecords(records),
    },
    data: {
      ...NO_NEXT.data,
      'tls.crt': made.material.certificate,
      'tls.key': made.material.key,
      'ca.crt': made.material.anchors ?? made.material.certificate,
      [CROSS_CERTIFICATE]: cross ?? null,
    },
  };
}

/** Publishes the CA without letting it sign. */
export function intoNext({ material, durationSeconds, installedAt }: NewAuthority): Change {
  const isUpstream = installedAt !== undefined;
  return {
    annotations: {
      [NEXT_DURATION]: formatDuration(durationSeconds),
      [NEXT_INSTALLED_AT]: installedAt ?? null,
    },
    data: {
      [NEXT_CERTIFICATE]: material.certificate,
      [NEXT_KEY]: material.key,
      [NEXT_ANCHOR]: isUpstream ? (material.anchors ?? null) : null,
    },
  };
}

/** The entry of a key that waits for its certificate into a Secret. */
export interface PendingKey {
  /** Milliseconds. */
  readonly now: number;
  /** The number of keys that waited in a row, including this one. */
  readonly attempts: number;
  /**
   * `clear` removes every other key: they were stolen. `keep` leaves `tls.*` as it is. `create`
   * leaves it empty in a new Secret, whose type requires both keys.
   */
  readonly tls: 'clear' | 'create' | 'keep';
}

/** Adds a key that waits for its certificate. */
export function intoPending(
  { key, request }: RequestedCa,
  { now, attempts, tls }: PendingKey,
): Change {
  const data = { [PENDING_KEY]: key, [PENDING_REQUEST]: request };
  const annotations = {
    [REQUESTED_AT]: formatTime(now),
    [REQUEST_ATTEMPTS]: attempts > 1 ? String(attempts) : null,
  };
  if (tls === 'keep') return { annotations, data };
  const empty = { ...data, 'tls.crt': '', 'tls.key': '' };
  if (tls === 'create') return { annotations, data: empty };
  return {
    annotations: { ...NO_NEXT.annotations, ...annotations, [DURATION]: null, [INSTALLED_AT]: null },
    data: { ...NO_NEXT.data, ...empty, 'ca.crt': null, [CROSS_CERTIFICATE]: null },
  };
}

/** Removes the key that waits for its certificate, in the same write. */
export function withoutPending(change: Change): Change {
  return {
    annotations: { ...change.annotations, ...NO_PENDING.annotations },
    data: { ...change.data, ...NO_PENDING.data },
  };
}

export const NO_CHANGE: Change = { annotations: {}, data: {} };

/**
 * Retires the CA in `tls.*` in the same write, since CRLs of its leaves are signed with it.
 *
 * @param until - milliseconds: minimum time to keep its key
 */
export function withRetired(
  change: Change,
  { material, fingerprint }: Pick<NewAuthority, 'material' | 'fingerprint'>,
  until: number,
): Change {
  const id = retiredId(fingerprint);
  return {
    annotations: { ...change.annotations, [retiredUntil(id)]: formatTime(until) },
    data: {
      ...change.data,
      [RETIRED_CERTIFICATE.of(id)]: material.certificate,
      [RETIRED_KEY.of(id)]: material.key,
    },
  };
}

/** @param ids - retired CAs whose keys are removed */
export function withoutRetired(ids: readonly string[]): Change {
  const data = ids.flatMap((id) => [RETIRED_CERTIFICATE.of(id), RETIRED_KEY.of(id)]);
  return {
    annotations: Object.fromEntries(ids.map((id) => [retiredUntil(id), null])),
    data: Object.fromEntries(data.map((key) => [key, null])),
  };
}

export function withoutNext(): Change {
  return NO_NEXT;
}

export function withoutCross(): Change {
  return { annotations: {}, data: { [CROSS_CERTIFICATE]: null } };
}
