// SPDX-License-Identifier: Apache-2.0
/** Signatures of Standard Webhooks (standardwebhooks.com, symmetric): how a receiver knows who has sent a message. */
import { createHmac } from 'node:crypto';

/** What is signed. */
export interface WebhookMessage {
  /** The same for each attempt; without a full stop, which separates the parts that are signed. */
  readonly id: string;
  /** Of this attempt, in milliseconds since 1970: receivers refuse what is older than a few minutes. */
  readonly at: number;
  readonly body: string;
}

const SECRET_PREFIX = 'whsec_';

/**
 * The header fields of a message. With two secrets there are two signatures: a receiver that knows either accepts them, so
 * a secret is replaced without a message that is refused.
 *
 * @param secrets - base64 after `whsec_`; without that prefix the bytes of the text are the key
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

/** Standard Webhooks asks for 24 to 64 bytes. What others can guess, others can sign with. */
const LEAST_SECRET = 24;

/** Whether a secret is too short to sign with: also a `whsec_` with no base64 behind it, whose key would be empty. */
export function isWeakSecret(secret: string): boolean {
  return keyOf(secret).length < LEAST_SECRET;
}

/** The secrets of a file: one a line, the newest first; blank lines are none. */
export function readSecrets(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
