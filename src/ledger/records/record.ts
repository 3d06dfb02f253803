// SPDX-License-Identifier: Apache-2.0
/** The shape of a record: the requester, the request, the decision and the result. */
import * as z from 'zod';
import { LIMITS, malformedRecord } from './malformed.ts';

const name = z.string().min(1).max(LIMITS.name);
const username = z.string().min(1).max(LIMITS.username);
const uid = z.string().min(1).max(LIMITS.name);
const key = z.string().min(1).max(LIMITS.key);
const message = z.string().max(LIMITS.message);
const reason = z.string().min(1).max(LIMITS.name);
/** RFC 3339 in UTC with milliseconds, so that each time has one spelling. */
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
  /** Kind of the object whose spec was applied. */
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
  /** DER SubjectPublicKeyInfo in base64, for a request without a PKCS #10. */
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
  /** Username of the approver, as the API server knows it. */
  by: username.optional(),
  /** The rule of the signer's spec that allowed or denied it. */
  rule: name.optional(),
  /** The request's condition Approved, in the approver's own words. */
  stated: z.strictObject({ reason: name.optional(), message: message.optional() }).optional(),
  /** Services whose names were proven. `labels` are the pod's labels that they selected then. */
  services: z.array(name).max(1_000).readonly().optional(),
  labels: z.record(z.string().max(LIMITS.label), z.string().max(LIMITS.name)).optional(),
});

const common = { key, at: time, component };
const asked = { ...common, signer, request, requester, decision: decision.optional() };

/** The records that components append. */
const recordSchema = z.discriminatedUnion('kind', [
  /** A certificate, before it is delivered. */
  z.strictObject({
    ...asked,
    kind: z.literal('issued'),
    certificate: der,
    /** Absent if the chain of an external CA does not show it. */
    ca: fingerprint.optional(),
  }),
  z.strictObject({ ...asked, kind: z.literal('approved') }),
  z.strictObject({ ...asked, kind: z.literal('denied'), reason, message }),
  z.strictObject({ ...asked, kind: z.literal('failed'), reason, message }),
  /** The result of an issued certificate, whose record has the key `of`. */
  z.strictObject({
    ...common,
    kind: z.literal('result'),
    of: key,
    outcome: z.enum(['delivered', 'refused', 'abandoned']),
    reason: reason.optional(),
    message: message.optional(),
  }),
  /** A CA, a cross-certificate, or a serving certificate of this installation. */
  z.strictObject({
    ...common,
    kind: z.literal('authority'),
    purpose: z.enum(['ca', 'cross', 'serving']),
    signer,
    certificate: der,
    ca: fingerprint,
  }),
  /** Records that a component could not keep in memory during an outage of the ledger. */
  z.strictObject({
    ...common,
    kind: z.literal('gap'),
    lost: count.min(1),
    from: time,
    to: time,
    /** Set in the mode `required`, which can lose only results: every certificate has a record. */
    of: z.literal('results').optional(),
  }),
]);

/** A record as a component appends it. */
export type LedgerRecord = z.infer<typeof recordSchema>;

/** The ledger's own record of a removal. The entries stay in the tree. */
const erasureSchema = z.strictObject({
  key,
  kind: z.literal('erased'),
  reason: z.enum(['retention', 'person']),
  /** The number of the log and a range of indexes, both inclusive. */
  removed: z.array(z.strictObject({ log: count, from: count, to: count })).min(1),
  /**
   * Fingerprints of the removed records' certificates that had not expired. A holder of such a
   * certificate already knows its contents, and others learn nothing.
   */
  living: z.array(fingerprint).readonly().optional(),
});

/** A record of what was removed. */
export type ErasureRecord = z.infer<typeof erasureSchema>;

const bodySchema = z.strictObject({
  /** Time and author of the append, as the ledger authenticated the author. */
  appended: z.strictObject({ at: time, by: username }),
  record: z.union([recordSchema, erasureSchema]),
});

/** The hashed and kept body: a record, and what the ledger adds. */
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
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return value;
  } catch {
    throw malformedRecord('it is not JSON');
  }
}

function shaped<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const path = read.error.issues[0]?.path.map(String).join('.') ?? '';
  throw malformedRecord(`the member ${path === '' ? 'kind' : path} is not as it must be`);
}
