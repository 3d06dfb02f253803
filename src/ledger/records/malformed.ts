// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';

/**
 * Returns the error for a record that the ledger cannot keep or read.
 * @param fault - names the member, never its contents: a record holds personal data
 */
export function malformedRecord(fault: string): SignerError {
  const message = `a record of the ledger cannot be used: ${fault}. Components and ledger must be of the same version`;
  return new SignerError({ code: 'LEDGER_MALFORMED', disposition: 'wait', message });
}

/** Maximum lengths in bytes of a record's members, each with its reason. */
export const LIMITS = {
  /** A key: a UID of the API server, a stage and a counter. */
  key: 200,
  /** An object's name (RFC 1123 subdomain). */
  name: 253,
  /** The key of a label: a DNS subdomain, a slash and 63 more. */
  label: 317,
  /** Bounded by the size of an etcd object, since Kubernetes sets no limit. */
  username: 1_500_000,
  /** Bounded by the size of an etcd object, which carries it in base64. */
  bytes: 1_500_000,
  message: 4096,
} as const;
