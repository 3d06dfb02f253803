// SPDX-License-Identifier: Apache-2.0
/**
 * Records on a workload. Its pod template has the certificates of the last restart, on which the
 * next decision depends. The workload itself has the time, which bounds the rate and survives
 * restarts of all processes.
 */

import type { Workload } from '#api/workload/workload.ts';

/**
 * The annotation of the pod template: `secret/web-tls=<64 hex>,…`, sorted. Changing it starts a
 * rollout.
 */
export const CERTIFICATES = 'countersign.dev/certificates';

/** Field manager of the annotation and the label, whose fields GitOps tools must ignore. */
export const FIELD_MANAGER = 'countersign-pod-refresher';

/** The label of the workload: `20261122T133500Z`. A label has no colons. */
export const RESTARTED_AT = 'countersign.dev/restarted-at';

/** Credential (`secret/web-tls`) → SHA-256 in hex. */
export type CertificateRecord = ReadonlyMap<string, string>;

/**
 * Returns the value of {@link CERTIFICATES}. It lists the set, not a time, so that two changes in
 * one second differ.
 */
export function formatRecord(record: CertificateRecord): string {
  return [...record]
    .map(([credential, hash]) => `${credential}=${hash}`)
    .sort()
    .join(',');
}

/** Reads {@link CERTIFICATES}. Ignores malformed entries. */
export function parseRecord(text: string | undefined): CertificateRecord {
  const record = new Map<string, string>();
  for (const entry of (text ?? '').split(',')) {
    const [, credential, hash] = /^([^=,]+)=([0-9a-f]{64})$/.exec(entry) ?? [];
    if (credential !== undefined && hash !== undefined) record.set(credential, hash);
  }
  return record;
}

/** Returns the value of {@link RESTARTED_AT}, in whole seconds. */
export function formatRestartedAt(milliseconds: number): string {
  return new Date(milliseconds)
    .toISOString()
    .replaceAll(/[-:]/g, '')
    .replace(/\.\d{3}/, '');
}

/**
 * Returns when we last restarted the workload, in milliseconds since the epoch, or undefined if the
 * label is absent or malformed.
 */
export function restartedAtOf({ metadata }: Workload): number | undefined {
  const text = metadata.labels?.[RESTARTED_AT];
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text ?? '') ?? [];
  if (second === undefined) return undefined;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? undefined : time;
}
