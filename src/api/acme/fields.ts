// SPDX-License-Identifier: Apache-2.0
/** Schemas of fields that several kinds of the group share. */
import * as z from 'zod';

export const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DURATION = /^([0-9]{1,10}h)?([0-9]{1,10}m)?([0-9]{1,10}s)?$/;

/** Text that is not empty. */
export const text = (most: number): z.ZodString => z.string().min(1).max(most);
export const objectName = text(253).regex(DNS_SUBDOMAIN);
export const durationText = text(33).regex(DURATION);
/** A URL of the ACME server. */
export const serverUrl = text(2048).regex(/^https:\/\//);
/** RFC 8555 §8: base64url. */
export const token = text(255).regex(/^[A-Za-z0-9_-]+$/);
/** RFC 3339. */
export const instant = z.iso.datetime({ offset: true });

export const signerRef = z.object({
  kind: z.enum(['AcmeClusterSigner', 'AcmeSigner']),
  name: objectName,
});

/** The signer of an Order or Challenge. An AcmeSigner is in the same namespace. */
export type AcmeSignerRef = Readonly<z.infer<typeof signerRef>>;

/** Fields of a status that describe a wait. */
export const waiting = {
  reason: text(64).exactOptional(),
  message: text(4096).exactOptional(),
  nextAttemptAt: instant.exactOptional(),
  failures: z.int().min(0).max(2_147_483_647).exactOptional(),
  finalAt: instant.exactOptional(),
};
