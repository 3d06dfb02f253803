// SPDX-License-Identifier: Apache-2.0
/**
 * Signatures of Standard Webhooks (standardwebhooks.com, symmetric), which prove the sender of a
 * message.
 */
import { createHmac } from 'node:crypto';

/** A message to sign. */
export interface WebhookMessage {
  /**
   * Id of the message, equal for each attempt. It has no full stop, which separates the signed
   * parts.
   */
  readonly id: string;
  /**
   * Time of this attempt in milliseconds since 1970. Receivers reject a message that is older than
   * a few minutes.
   */
  readonly at: number;
  readonly body: string;
}

const SECRET_PREFIX = 'whsec_';

/**
 * Returns the header fields of a message. With two secrets there are two signatures, and a receiver
 * with either secret accepts them. A secret can therefore be replaced without a rejected message.
 *
 * @param secrets - base64 after `whsec_`. Without that prefix the bytes of the text are the key
 */
export function signatureFields(
  { id, at, body }: WebhookMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1000));
  const fields = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secrets.length === 0) return fields;
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`,
  );
  return { ...fields, 'webhook-signature': signatures.join(' ') };
}

function keyOf(secret: string): Buffer {
  return secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret);
}

/**
 * Lower limit of Standard Webhooks, which requires 24 to 64 bytes. An attacker could guess a short
 * secret and sign with it.
 */
const MIN_SECRET = 24;

/**
 * Reports whether a secret is too short to sign with. A `whsec_` without valid base64 has an empty
 * key and is too short.
 */
export function isWeakSecret(secret: string): boolean {
  return keyOf(secret).length < MIN_SECRET;
}

/** Returns the secrets of a file: one a line, the newest first, without blank lines. */
export function readSecrets(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
