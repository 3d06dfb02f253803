// SPDX-License-Identifier: Apache-2.0
import { formatTime, parseTime } from '../api/object/time.ts';
import { MAX_CROSS_CERTIFICATES } from '../api/signer/cluster-signer-limits.ts';

/** A cross-certificate that was made: fingerprints of both CAs, and its end in milliseconds. */
export interface CrossRecord {
  readonly issuer: string;
  readonly subject: string;
  readonly notAfter: number;
}

/** The value of the Secret's annotation; null where there is nothing to record. */
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

const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;

/** Reads that annotation. What is no record is left out: it can only lessen trust, never add any. */
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
  const { issuer, subject, notAfter } = value as Readonly<Record<string, unknown>>;
  if (typeof issuer !== 'string' || typeof subject !== 'string') return [];
  if (!FINGERPRINT.test(issuer) || !FINGERPRINT.test(subject)) return [];
  const end = typeof notAfter === 'string' ? parseTime(notAfter) : NaN;
  return Number.isNaN(end) ? [] : [{ issuer, subject, notAfter: end }];
}
