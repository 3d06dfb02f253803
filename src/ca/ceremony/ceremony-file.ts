// SPDX-License-Identifier: Apache-2.0
/** The fields of a ceremony's file, and the faults of each field by its path. */
import * as z from 'zod';
import { formatTime, parseTime } from '#api/object/time.ts';
import { requireNoFaults } from '#base/file-faults.ts';
import { keysOf } from '#base/object-keys.ts';
import { AUTHORITY_KEY_TYPES, REVOCATION_REASONS } from '#base/vocabulary.ts';

/** The `apiVersion` and `kind` of the file. */
const API_VERSION = 'ceremony.countersign.dev/v1alpha1';
const KIND = 'Ceremony';

/** The limit of a text that a person writes. */
const MAX_FIELD_TEXT = 200;
const MAX_FILE_PATH = 1024;
const MAX_SUBTREES = 100;
const MAX_LIST_ENTRIES = 1000;

/** The limit of a path length. More CAs below a root are a mistake. */
const MAX_CAS_BELOW = 8;

const text = z.string().min(1).max(MAX_FIELD_TEXT);
/** A path without control characters: people read it in prompts and transcripts. */
const path = z
  .string()
  .min(1)
  .max(MAX_FILE_PATH)
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, 'must be a path without control characters');

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** RFC 3339 in UTC with whole seconds, as certificates have them. */
const time = z
  .string()
  .refine(
    (value) => TIME.test(value) && isRealTime(value),
    'must be a time such as 2027-01-01T00:00:00Z',
  );

/** Reports whether the day exists: Date.parse reads February 30 as March 2. */
function isRealTime(value: string): boolean {
  const milliseconds = parseTime(value);
  return !Number.isNaN(milliseconds) && formatTime(milliseconds) === value;
}

const HOURS = /^[1-9]\d{0,6}h$/;

const pathLength = z.int().min(0).max(MAX_CAS_BELOW);

const subject = z.strictObject({
  commonName: text,
  organizations: z.array(text).max(8).exactOptional(),
  organizationalUnits: z.array(text).max(8).exactOptional(),
});

/** A domain in lower case. Verifiers disagree on a leading dot and on a wildcard. */
const DNS_SUBTREE =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

const dnsSubtree = z.string().max(253).regex(DNS_SUBTREE, 'must be a domain such as example.com');
const uriSubtree = z
  .string()
  .max(253)
  .regex(/^\.?[a-z0-9]/, 'must be a host such as example.com, or .example.com for hosts below it')
  .refine(
    (value) => DNS_SUBTREE.test(value.replace(/^\./, '')),
    'must be a host such as example.com',
  );

function subtrees(one: z.ZodType<string>): z.ZodType<Subtrees> {
  const list = z.array(one).min(1).max(MAX_SUBTREES).exactOptional();
  return z
    .strictObject({ permitted: list, excluded: list })
    .refine(
      (value) => value.permitted !== undefined || value.excluded !== undefined,
      'must have permitted or excluded',
    );
}

/** Names below which a CA may or may not certify. */
export interface Subtrees {
  readonly permitted?: readonly string[] | undefined;
  readonly excluded?: readonly string[] | undefined;
}

const constraints = z
  .strictObject({
    dns: subtrees(dnsSubtree).exactOptional(),
    uris: subtrees(uriSubtree).exactOptional(),
  })
  .refine((value) => value.dns !== undefined || value.uris !== undefined, 'must have dns or uris');

const crlUrl = z
  .string()
  .max(2000)
  .regex(/^https?:\/\/[!#-[\]-z|~]+$/, 'must be an http or https URL');

const key = z.strictObject({ file: path });

/** The fields that each planned certificate has. */
const planned = {
  notBefore: time,
  notAfter: time,
  pathLength,
  nameConstraints: constraints.exactOptional(),
};
/** The fields of a certificate that another CA signs. */
const below = { ...planned, crlUrls: z.array(crlUrl).min(1).max(4).exactOptional() };

const root = z.strictObject({ keyType: z.enum(AUTHORITY_KEY_TYPES), subject, ...planned });

const intermediate = z
  .strictObject({
    certificate: path,
    csr: path.exactOptional(),
    key: z.strictObject({ file: path, type: z.enum(AUTHORITY_KEY_TYPES) }).exactOptional(),
    subject: subject.exactOptional(),
    every: z.string().regex(HOURS, 'must be a duration in hours, such as 8760h').exactOptional(),
    ...below,
  })
  .refine(
    (value) => (value.csr === undefined) !== (value.key === undefined),
    'must have exactly one of csr and key',
  )
  .refine((value) => value.key === undefined || value.subject !== undefined, {
    path: ['subject'],
    message: 'is needed with key: only a csr brings a subject',
  });

const cross = z.strictObject({ of: path, certificate: path, ...below });

const reasons = keysOf(REVOCATION_REASONS);

/** At most 20 octets (RFC 5280 §4.1.2.2), with a colon between any two or none. */
const SERIAL = /^(?:[0-9A-Fa-f]{1,40}|[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){1,19})$/;

const revoked = z
  .strictObject({
    certificate: path.exactOptional(),
    serial: z.string().regex(SERIAL, 'must be hexadecimal digits, in quotes').exactOptional(),
    revokedAt: time,
    reason: z.enum(reasons),
  })
  .refine(
    (value) => (value.certificate === undefined) !== (value.serial === undefined),
    'must have exactly one of certificate and serial',
  );

const crl = z
  .strictObject({
    file: path,
    previous: path.exactOptional(),
    first: z.literal(true).exactOptional(),
    thisUpdate: time,
    nextUpdate: time,
    revoked: z.array(revoked).max(MAX_LIST_ENTRIES).exactOptional(),
  })
  .refine(
    (value) => (value.previous === undefined) !== (value.first === undefined),
    'must have exactly one of previous, with the last CRL, and first: true',
  );

const ceremony = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal(KIND),
  present: z
    .array(z.strictObject({ name: text, role: text }))
    .min(1)
    .max(50),
  ca: z.strictObject({ key, certificate: path }),
  root: root.exactOptional(),
  intermediate: intermediate.exactOptional(),
  cross: cross.exactOptional(),
  crl: crl.exactOptional(),
});

/** The file of a ceremony. Times are RFC 3339 in UTC, and paths are relative to the file. */
export type CeremonyFile = z.infer<typeof ceremony>;

/** The fields that the certificates of all verbs have. */
export type PlannedFields = Pick<
  NonNullable<CeremonyFile['root']>,
  'notBefore' | 'notAfter' | 'pathLength' | 'nameConstraints'
>;

/** The verbs that sign. Each has a section of the file. */
export const SIGNING_VERBS = ['root', 'intermediate', 'cross', 'crl'] as const;
export type SigningVerb = (typeof SIGNING_VERBS)[number];

/**
 * Reads the file of a ceremony, parsed from YAML. Rejects unknown fields.
 *
 * @param name - of the file, for messages
 * @throws SignerError USAGE (`fail`) with the path of each fault
 */
export function readCeremony(value: unknown, name: string): CeremonyFile {
  return requireNoFaults(ceremony.safeParse(value), name, orderFaults);
}

/** Returns the faults that concern two fields. */
function orderFaults(file: CeremonyFile): readonly string[] {
  const { crl: list, root: ownRoot, intermediate: made, cross: other } = file;
  const periods = [
    ['root.notAfter', ownRoot?.notBefore, ownRoot?.notAfter],
    ['intermediate.notAfter', made?.notBefore, made?.notAfter],
    ['cross.notAfter', other?.notBefore, other?.notAfter],
    ['crl.nextUpdate', list?.thisUpdate, list?.nextUpdate],
  ] as const;
  return [
    ...periods.flatMap(([at, from = '', to = '']) =>
      from !== '' && Date.parse(from) >= Date.parse(to)
        ? [`${at}: ${to} is not later than ${from}`]
        : [],
    ),
    ...repeatedFaults(file),
  ];
}

/** Two roles of one file would overwrite each other. */
function repeatedFaults({
  ca,
  intermediate: made,
  cross: other,
  crl: list,
}: CeremonyFile): readonly string[] {
  const paths = [
    ['ca.key.file', ca.key.file],
    ['ca.certificate', ca.certificate],
    ['intermediate.key.file', made?.key?.file],
    ['intermediate.certificate', made?.certificate],
    ['cross.certificate', other?.certificate],
    ['crl.file', list?.file],
  ] as const;
  return paths.flatMap(([at, value], index) => {
    const before = paths.slice(0, index).find(([, each]) => each === value && value !== undefined);
    return before === undefined ? [] : [`${at}: ${value ?? ''} is also ${before[0]}`];
  });
}
