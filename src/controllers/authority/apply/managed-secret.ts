// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../../../api/signer/cluster-signer.ts';
import { formatDuration } from '../../../api/object/duration.ts';
import { formatTime } from '../../../api/object/time.ts';
import { CLUSTER_SIGNER_UID, SIGNER_NAME } from '../../../api/signer/grant.ts';
import {
  ACTIVATED_AT,
  CROSS_CERTIFICATE,
  CROSS_CERTIFICATES,
  DURATION,
  NEXT_CERTIFICATE,
  NEXT_DURATION,
  NEXT_KEY,
  RETIRED_CERTIFICATE,
  RETIRED_KEY,
  SIGNS_AT_ONCE,
  retiredId,
  retiredUntil,
} from '../../../api/signer/rotation-annotations.ts';
import type { AuthorityMaterial } from '../../../authorities/contract.ts';
import { writeCrossRecords, type CrossRecord } from '../../../rotation/cross-records.ts';

/** The changes of a Secret in a phase change: null removes a key, a key that is not named stays. */
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
}

/** Labels of a Secret that we made: {@link writerLabels}, and that nobody else manages it. */
export function ownLabels(signer: ClusterSigner, version: string): SecretChange['labels'] {
  return { 'app.kubernetes.io/managed-by': 'countersign', ...writerLabels(signer, version) };
}

/**
 * Whom the object is for, the generation of that signer, and which version of Countersign wrote it last. Not who manages
 * it: the objects of our own ports belong to whatever installed them, and Helm refuses an upgrade when that label is
 * not its own.
 */
export function writerLabels(signer: ClusterSigner, version: string): SecretChange['labels'] {
  return {
    'app.kubernetes.io/version': version,
    'countersign.dev/owner': signer.metadata.uid,
    'countersign.dev/generation': String(signer.metadata.generation ?? 0),
  };
}

/** Consent and ownership: what marks a Secret that we may write again. */
export function ownAnnotations(signer: ClusterSigner): Readonly<Record<string, string>> {
  return {
    [SIGNER_NAME]: signer.spec.signerName,
    [CLUSTER_SIGNER_UID]: signer.metadata.uid,
  };
}

const NO_NEXT = {
  annotations: { [NEXT_DURATION]: null },
  data: { [NEXT_CERTIFICATE]: null, [NEXT_KEY]: null },
} as const;

type Change = Omit<SecretChange, 'labels'>;

/** What the Secret records of a CA that becomes active. */
export interface Beginning {
  /** Milliseconds. */
  readonly now: number;
  readonly atOnce: boolean;
  /** The certificate that the previous CA issued for it. */
  readonly cross: string | undefined;
  /** All cross-certificates that were made and have not expired, including this one. */
  readonly records: readonly CrossRecord[];
}

/** The CA signs, or will sign once its anchor has propagated; any prepared CA is removed. */
export function intoTls(made: NewAuthority, { now, atOnce, cross, records }: Beginning): Change {
  return {
    annotations: {
      ...NO_NEXT.annotations,
      [DURATION]: formatDuration(made.durationSeconds),
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

/** The CA is published and does not sign. */
export function intoNext({ material, durationSeconds }: NewAuthority): Change {
  return {
    annotations: { [NEXT_DURATION]: formatDuration(durationSeconds) },
    data: { [NEXT_CERTIFICATE]: material.certificate, [NEXT_KEY]: material.key },
  };
}

/**
 * What `tls.*` has retires in the same write: CRLs of its leaves are signed with it.
 *
 * @param until - milliseconds: how long its key is kept at least
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

/** @param ids - of CAs that retired, whose keys go */
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
