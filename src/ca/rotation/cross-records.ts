// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '#api/object/time.ts';
import { FINGERPRINT, MAX_CROSS_CERTIFICATES } from '#api/signer/cluster-signer-limits.ts';

/** The record of a cross-certificate: fingerprints of both CAs, and its end in milliseconds. */
export interface CrossRecord {
  readonly issuer: string;
  readonly subject: string;
  readonly notAfter: number;
}

/** Returns the value of the Secret's annotation, or null if there is nothing to record. */
export function writeCrossRecords(records: readonly CrossRecord[]): string | null {
  if (records.length === 0) return null;
  return JSON.stringify(
    records.map(({ issuer, subject, notAfter }) => ({
      issuer,
      subject,
      notAfter: formatTime(notAfter),
    })),
  );
}

/** Reads that annotation. Omits invalid records: they can only lessen trust, never add any. */
export function readCrossRecords(text: string | undefined): readonly CrossRecord[] {
  return parsed(text).slice(0, MAX_CROSS_CERTIFICATES).flatMap(recordOf);
}

function parsed(text = '[]'): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function recordOf(value: unknown): readonly CrossRecord[] {
  if (typeof value !== 'object' || value === null) return [];
  const { issuer, subject, notAfter }: Readonly<Record<string, unknown>> = { ...value };
  if (typeof issuer !== 'string' || typeof subject !== 'string') return [];
  if (!FINGERPRINT.test(issuer) || !FINGERPRINT.test(subject)) return [];
  const end = typeof notAfter === 'string' ? parseTime(notAfter) : NaN;
  return Number.isNaN(end) ? [] : [{ issuer, subject, notAfter: end }];
}
