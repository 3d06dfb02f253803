// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';

/**
 * Of a record that cannot be kept or read.
 *
 * @param fault - names the member, never its contents: a record holds personal data
 */
export function malformedRecord(fault: string): SignerError {
  const message = `a record of the ledger cannot be used: ${fault}. Components and ledger must be of the same version`;
  return new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
}

/** Lengths in bytes of what records are made of, each with its reason. */
export const LIMITS = {
  /** A UID of the API server, a stage and a counter. */
  key: 200,
  /** An object's name (RFC 1123 subdomain). */
  name: 253,
  /** The key of a label: a DNS subdomain, a slash and 63 more. */
  label: 317,
  /** Kubernetes limits none: an object of etcd does. */
  username: 1_500_000,
  /** An object of etcd is smaller, and so is what it carries in base64. */
  bytes: 1_500_000,
  message: 4096,
} as const;
