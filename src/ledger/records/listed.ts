// SPDX-License-Identifier: Apache-2.0
/**
 * Reads records of pods as the API lists them, for a component that reads them back without
 * trusting the sender. It bounds their size, keeps only the members that it needs and ignores those
 * of newer ledgers.
 */
import * as z from 'zod';
import { LIMITS, malformedRecord } from './malformed.ts';

/** RFC 1123 subdomain, which is safe in a path of the API. */
const objectName = z
  .string()
  .max(LIMITS.name)
  .regex(/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/);
/**
 * UID of a PodCertificateRequest. The API server checks no more (validation.go,
 * ValidatePodCertificateRequestCreate).
 */
const uid = z.string().min(1).max(128);
const named = z.object({ name: objectName, uid });

const asked = {
  at: z.iso.datetime({ precision: 3 }),
  signer: z.object({ name: z.string().min(1).max(571) }),
  request: z.object({
    kind: z.literal('PodCertificateRequest'),
    name: objectName,
    uid,
    expirationSeconds: z.int().min(0).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  requester: z.object({
    pod: named.extend({ namespace: objectName }),
    serviceAccount: named.extend({ namespace: objectName }).optional(),
    node: named.optional(),
  }),
};

const podRecord = z.discriminatedUnion('kind', [
  z.object({
    ...asked,
    kind: z.literal('issued'),
    certificate: z.string().max(LIMITS.bytes),
    decision: z
      .object({
        services: z.array(objectName).max(1_000).readonly().optional(),
        labels: z.record(z.string().max(LIMITS.label), z.string().max(LIMITS.name)).optional(),
      })
      .optional(),
  }),
  z.object({ ...asked, kind: z.literal('denied'), message: z.string().max(LIMITS.message) }),
]);

/** A kubelet's request for a pod, and its outcome. */
export type PodRecord = z.infer<typeof podRecord>;

/** A record as the API lists it. */
export interface ListedRecord {
  /** Name such as `1-42`. */
  readonly name: string;
  /** Absent if the record is unreadable or not a pod's certificate or denial. */
  readonly record?: PodRecord;
  /** Outcomes of a certificate: `delivered`, `refused`, `abandoned`. */
  readonly outcomes: readonly string[];
}

/** A page of the list. */
export interface ListedPage {
  readonly records: readonly ListedRecord[];
  /** Start of the next page. Absent at the end. */
  readonly next?: string;
}

const page = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string().max(LIMITS.name) }),
      record: z.unknown(),
      results: z.array(z.object({ outcome: z.string().max(LIMITS.name) })).optional(),
    }),
  ),
  metadata: z.object({ continue: z.string().max(LIMITS.message).optional() }),
});

/**
 * Reads a response to `GET records`. An unreadable record does not prevent reading the others.
 * @param most - the number of records that the caller requested
 * @throws SignerError LEDGER_MALFORMED if it is not a page
 */
export function readListedPage(value: unknown, most: number): ListedPage {
  const read = page.safeParse(value);
  if (!read.success) throw malformedRecord('the answer is not a page of records');
  const { items, metadata } = read.data;
  if (items.length > most) throw malformedRecord('a page has more records than requested');
  const records = items.map(({ metadata: { name }, record, results = [] }) => {
    const { data } = podRecord.safeParse(record);
    const outcomes = results.map(({ outcome }) => outcome);
    return { name, outcomes, ...(data === undefined ? {} : { record: data }) };
  });
  const { continue: next = '' } = metadata;
  return { records, ...(next === '' ? {} : { next }) };
}
