// SPDX-License-Identifier: Apache-2.0
/**
 * Records of pods as the API lists them, for a component that reads them back and does not believe who answers: bounded,
 * and with nothing but what is asked for. Members that a newer ledger adds are left out.
 */
import { z } from 'zod';
import { LIMITS, malformedRecord } from './malformed.ts';

/** RFC 1123 subdomain: what goes into a path of the API. */
const objectName = z
  .string()
  .max(LIMITS.name)
  .regex(/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/);
/** Of a PodCertificateRequest the API server checks no more (validation.go, ValidatePodCertificateRequestCreate). */
const uid = z.string().min(1).max(128);
const named = z.object({ name: objectName, uid });

const asked = {
  at: z.iso.datetime({ precision: 3 }),
  signer: z.object({ name: z.string().min(1).max(571) }),
  request: z.object({
    ...{ kind: z.literal('PodCertificateRequest'), name: objectName, uid },
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

/** What a kubelet asked for a pod, and what was answered. */
export type PodRecord = z.infer<typeof podRecord>;

/** A record as the API lists it. */
export interface ListedRecord {
  /** `1-42`. */
  readonly name: string;
  /** Absent of all that is no certificate or denial of a pod, and of what cannot be read. */
  readonly record?: PodRecord;
  /** What became of a certificate: `delivered`, `refused`, `abandoned`. */
  readonly outcomes: readonly string[];
}

/** A page of the list. */
export interface ListedPage {
  readonly records: readonly ListedRecord[];
  /** Where the next page begins; absent at the end. */
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
 * Reads an answer to `GET records`. One record that cannot be read keeps nobody from the others.
 *
 * @param most - how many records were asked for
 * @throws SignerError LEDGER_MALFORMED if it is no page
 */
export function readListedPage(value: unknown, most: number): ListedPage {
  const read = page.safeParse(value);
  if (!read.success) throw malformedRecord('the answer is no page of records');
  const { items, metadata } = read.data;
  if (items.length > most) throw malformedRecord('a page has more than was asked for');
  const records = items.map(({ metadata: { name }, record, results = [] }) => {
    const { data } = podRecord.safeParse(record);
    const outcomes = results.map(({ outcome }) => outcome);
    return { name, outcomes, ...(data === undefined ? {} : { record: data }) };
  });
  const { continue: next = '' } = metadata;
  return { records, ...(next === '' ? {} : { next }) };
}
