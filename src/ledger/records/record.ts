// SPDX-License-Identifier: Apache-2.0
/** The shape of a record: who asked for what, who allowed it, what was made of it. */
import { z } from 'zod';
import { LIMITS, malformedRecord } from './malformed.ts';

const name = z.string().min(1).max(LIMITS.name);
const username = z.string().min(1).max(LIMITS.username);
const uid = z.string().min(1).max(LIMITS.name);
const key = z.string().min(1).max(LIMITS.key);
const message = z.string().max(LIMITS.message);
const reason = z.string().min(1).max(LIMITS.name);
/** RFC 3339 in UTC with milliseconds: one spelling of each time. */
const time = z.iso.datetime({ precision: 3 });
const der = z.base64().min(4).max(LIMITS.bytes);
const fingerprint = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const count = z.int().min(0);

const component = z.strictObject({ name, version: name, replica: name });
const object = z.strictObject({ namespace: name.optional(), name, uid: uid.optional() });
const inNamespace = z.strictObject({ namespace: name, name, uid: uid.optional() });

const signer = z.strictObject({
  /** The signer name: `example.com/workload`. */
  name: z.string().min(1).max(571),
  /** The object whose spec was applied, and which version of it. */
  kind: name.optional(),
  object: object.optional(),
  generation: count.optional(),
});

const request = z.strictObject({
  kind: name,
  namespace: name.optional(),
  name,
  uid,
  /** DER in base64. */
  pkcs10: der.optional(),
  /** DER SubjectPublicKeyInfo in base64, of a request that has no more. */
  publicKey: der.optional(),
  usages: z.array(name).max(64).readonly().optional(),
  expirationSeconds: count.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

const requester = z.strictObject({
  user: z
    .strictObject({
      username,
      uid: z.string().max(LIMITS.username).optional(),
      groups: z.array(username).max(10_000).readonly().optional(),
    })
    .optional(),
  pod: inNamespace.optional(),
  serviceAccount: inNamespace.optional(),
  node: object.optional(),
});

const decision = z.strictObject({
  /** Who approved, as the API server knows them. */
  by: username.optional(),
  /** The rule of the signer's spec that allowed or denied it. */
  rule: name.optional(),
  /** The condition Approved as it stands on the request: whoever may approve wrote it. */
  stated: z.strictObject({ reason: name.optional(), message: message.optional() }).optional(),
  /** The Services whose names were proven, and the labels of the pod that they selected then. */
  services: z.array(name).max(1_000).readonly().optional(),
  labels: z.record(z.string().max(LIMITS.label), z.string().max(LIMITS.name)).optional(),
});

const common = { key, at: time, component };
const asked = { ...common, signer, request, requester, decision: decision.optional() };

/** What components append. */
const recordSchema = z.discriminatedUnion('kind', [
  /** A certificate, before it is delivered. */
  z.strictObject({
    ...asked,
    kind: z.literal('issued'),
    certificate: der,
    /** Absent where the chain of a CA of others does not show it. */
    ca: fingerprint.optional(),
  }),
  z.strictObject({ ...asked, kind: z.literal('approved') }),
  z.strictObject({ ...asked, kind: z.literal('denied'), reason, message }),
  z.strictObject({ ...asked, kind: z.literal('failed'), reason, message }),
  /** What became of an issued certificate: the record whose key `of` names. */
  z.strictObject({
    ...common,
    kind: z.literal('result'),
    of: key,
    outcome: z.enum(['delivered', 'refused', 'abandoned']),
    reason: reason.optional(),
    message: message.optional(),
  }),
  /** A CA, a cross-certificate, or a certificate of our own ports. */
  z.strictObject({
    ...common,
    kind: z.literal('authority'),
    purpose: z.enum(['ca', 'cross', 'serving']),
    signer,
    certificate: der,
    ca: fingerprint,
  }),
  /** What a component could not keep in memory while the ledger was away. */
  z.strictObject({
    ...common,
    kind: z.literal('gap'),
    lost: count.min(1),
    from: time,
    to: time,
    /** In the mode `required` only results can be lost: no certificate is without a record. */
    of: z.literal('results').optional(),
  }),
]);

/** A record as a component appends it. */
export type LedgerRecord = z.infer<typeof recordSchema>;

/** What the ledger itself records: records that it has removed. Their entries stay in the tree. */
const erasureSchema = z.strictObject({
  key,
  kind: z.literal('erased'),
  reason: z.enum(['retention', 'person']),
  /** The number of the log, and from which index to which, both inclusive. */
  removed: z.array(z.strictObject({ log: count, from: count, to: count })).min(1),
  /**
   * Fingerprints of certificates that had not expired: they had a record. Who has the certificate knows all that was
   * removed; nobody else learns anything.
   */
  living: z.array(fingerprint).readonly().optional(),
});

/** A record of what was removed. */
export type ErasureRecord = z.infer<typeof erasureSchema>;

const bodySchema = z.strictObject({
  /** When, and by whom: as the ledger authenticated it. */
  appended: z.strictObject({ at: time, by: username }),
  record: z.union([recordSchema, erasureSchema]),
});

/** What is hashed and kept: a record, and what the ledger itself says of it. */
export type RecordBody = z.infer<typeof bodySchema>;

/**
 * Reads a record that a component sent.
 *
 * @throws SignerError LEDGER_MALFORMED naming the member
 */
export function readRecord(value: unknown): LedgerRecord {
  return shaped(recordSchema, value);
}

/**
 * Reads the bytes that the ledger has kept.
 *
 * @throws SignerError LEDGER_MALFORMED naming the member
 */
export function readBody(bytes: Uint8Array): RecordBody {
  return shaped(bodySchema, parsed(bytes));
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch {
    throw malformedRecord('it is no JSON');
  }
}

function shaped<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const path = read.error.issues[0]?.path.map(String).join('.') ?? '';
  throw malformedRecord(`the member ${path === '' ? 'kind' : path} is not as it must be`);
}
