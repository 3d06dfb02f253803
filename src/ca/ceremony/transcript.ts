// SPDX-License-Identifier: Apache-2.0
/**
 * The transcript of a ceremony: JSON, whose bytes the key of the CA signs. It begins with `{`, and
 * certificates and CRLs with a SEQUENCE, so a signature of one never fits the other.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { usageError } from '#base/errors.ts';
import { SIGNING_VERBS } from './ceremony-file.ts';

const TYPE = 'countersign.dev/ceremony-transcript/v1';

/** The roles of files. */
const INPUTS = [
  'ceremony',
  'ca certificate',
  'ca key',
  'request',
  'other certificate',
  'previous CRL',
  'revoked certificate',
] as const;
const OUTPUTS = ['key', 'certificate', 'CRL'] as const;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

function files<const T extends readonly string[]>(roles: T) {
  return z.array(z.strictObject({ role: z.enum(roles), path: z.string(), bytes: z.int(), sha256 }));
}

const transcript = z.strictObject({
  type: z.literal(TYPE),
  verb: z.enum(SIGNING_VERBS),
  /** The number of intermediates. 1 for other verbs. */
  count: z.int().min(1),
  allowUriConstraints: z.boolean(),
  /** The version of Countersign. */
  version: z.string(),
  /** The time of the machine’s clock, which may be wrong: an offline machine has no other. */
  signedAt: z.string(),
  /** `typed`: a person typed the digest. `flag`: --yes, so perhaps no person read the bytes. */
  confirmed: z.enum(['typed', 'flag']),
  present: z.array(z.strictObject({ name: z.string(), role: z.string() })),
  warnings: z.array(z.string()),
  ca: z.strictObject({ fingerprint: z.string(), algorithm: z.string() }),
  inputs: files(INPUTS),
  /** SHA-256 of each to-be-signed part, in the order of the outputs. */
  signed: z.array(sha256),
  outputs: files(OUTPUTS),
});

/** The record of what a ceremony read, signed and wrote. */
export type Transcript = z.infer<typeof transcript>;
export type TranscriptFile = Transcript['inputs'][number] | Transcript['outputs'][number];

/** A file of a ceremony. */
export interface NamedFile<Role extends string = string> {
  readonly role: Role;
  /** The path, relative to the file of the ceremony. */
  readonly path: string;
  readonly contents: Uint8Array;
}
export type InputRole = (typeof INPUTS)[number];
export type OutputRole = (typeof OUTPUTS)[number];

/** Returns the SHA-256 of bytes in hexadecimal digits. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns the entry of a file. */
export function entryOf<Role extends string>({
  role,
  path,
  contents,
}: NamedFile<Role>): {
  role: Role;
  path: string;
  bytes: number;
  sha256: string;
} {
  return { role, path, bytes: contents.length, sha256: digestOf(contents) };
}

/** Encodes a transcript. The key signs these bytes. */
export function encodeTranscript(fields: Omit<Transcript, 'type'>): Uint8Array {
  return Buffer.from(`${JSON.stringify({ type: TYPE, ...fields }, undefined, 2)}\n`);
}

/**
 * Decodes a transcript. Rejects unknown fields.
 *
 * @param name - of the file, for messages
 * @throws SignerError USAGE (`fail`)
 */
export function decodeTranscript(bytes: Uint8Array, name: string): Transcript {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw usageError(`${name} is not a transcript: it is not JSON`);
  }
  const { data, error } = transcript.safeParse(value);
  if (data !== undefined) return data;
  const [fault] = error.issues;
  const where = fault?.path.join('.') ?? '';
  throw usageError(
    `${name} is not a transcript: ${where === '' ? 'it' : where}: ${fault?.message ?? ''}`,
  );
}
