// SPDX-License-Identifier: Apache-2.0
/** Formats records as rows for kubectl (meta/v1 Table). Pure. */
import { attempt, SignerError } from '#base/errors.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import type { RecordBody } from '#ledger/index.ts';
import type { RecordObject } from './object.ts';
import * as messages from '../messages.ts';

const COLUMNS = [
  ['Name', 0],
  ['Kind', 0],
  ['Signer', 0],
  ['For', 0],
  ['Request', 1],
  ['Result', 0],
  ['Expires', 0],
  ['Age', 0],
  ['Rule', 1],
  ['CA', 1],
] as const;

/** Reports whether a client requests a table. */
export function wantsTable(accept: string): boolean {
  const [first = ''] = accept.split(',');
  return /;\s*as=Table/.test(first) && /;\s*v=v1\b/.test(first);
}

/** @param now - milliseconds since 1970 */
export function tableOf(records: readonly RecordObject[], metadata: object, now: number): object {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: COLUMNS.map(([name, priority]) => ({
      name,
      type: 'string',
      format: name === 'Name' ? 'name' : '',
      description: messages.COLUMNS[name],
      priority,
    })),
    rows: records.map((each) => ({ cells: cellsOf(each, now), object: partialOf(each) })),
  };
}

function partialOf({ metadata }: RecordObject): object {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
}

function cellsOf(object: RecordObject, now: number): readonly string[] {
  const { metadata, appended, record } = object;
  const asked = 'request' in record ? record : undefined;
  return [
    metadata.name,
    record.kind,
    'signer' in record ? record.signer.name : '',
    requesterOf(record),
    asked === undefined ? '' : `${asked.request.kind}/${asked.request.name}`,
    outcomeOf(object),
    expiryOf(record),
    ageOf(now - Date.parse(appended.at)),
    asked?.decision?.rule ?? '',
    'ca' in record ? (record.ca ?? '') : '',
  ];
}

/** Returns the result of a certificate, or the reason for its absence. */
export function outcomeOf({ record, results = [] }: RecordObject): string {
  if (results.length > 0) return results.map(({ outcome }) => outcome).join(',');
  return 'reason' in record ? (record.reason ?? '') : '';
}

/** Returns the most specific known requester. */
export function requesterOf(record: RecordBody['record']): string {
  if (!('requester' in record)) return '';
  const { pod, serviceAccount, user } = record.requester;
  if (pod !== undefined) return `pod ${pod.namespace}/${pod.name}`;
  if (serviceAccount !== undefined)
    return `serviceaccount ${serviceAccount.namespace}/${serviceAccount.name}`;
  return user === undefined ? '' : user.username;
}

function expiryOf(record: RecordBody['record']): string {
  if (!('certificate' in record)) return '';
  const certificate = attempt(() => decodeCertificate(Buffer.from(record.certificate, 'base64')));
  if (certificate instanceof SignerError) return '';
  return `${new Date(certificate.notAfter).toISOString().slice(0, 19)}Z`;
}

/** Formats an age roughly like kubectl (apimachinery's duration.HumanDuration). */
function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [minutes, hours, days] = [seconds / 60, seconds / 3600, seconds / 86_400].map(Math.floor);
  if (seconds < 120) return `${seconds}s`;
  if ((minutes ?? 0) < 180) return `${minutes}m`;
  return (hours ?? 0) < 48 ? `${hours}h` : `${days}d`;
}
