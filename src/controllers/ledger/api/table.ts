// SPDX-License-Identifier: Apache-2.0
/** Records as rows, as kubectl prints them (meta/v1 Table). Pure. */
import { attempt, SignerError } from '../../../errors.ts';
import { decodeCertificate } from '../../../pki/x509/certificate.ts';
import type { RecordBody } from '../../../ledger/index.ts';
import type { RecordObject } from './object.ts';

const COLUMNS = [
  ['Name', 'string', 'number of the log and index in it', 0],
  ['Kind', 'string', 'what was recorded', 0],
  ['Signer', 'string', 'signer name', 0],
  ['For', 'string', 'pod, ServiceAccount or user that asked', 0],
  ['Request', 'string', 'kind and name of the request', 1],
  ['Result', 'string', 'what became of the certificate', 0],
  ['Expires', 'string', 'end of the certificate', 0],
  ['Age', 'string', 'since it was appended', 0],
  ['Rule', 'string', 'rule that allowed or denied it', 1],
  ['CA', 'string', 'fingerprint of the CA', 1],
] as const;

/** Whether a client asks for a table. */
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
    columnDefinitions: COLUMNS.map(([name, type, description, priority]) => ({
      ...{ name, type, format: name === 'Name' ? 'name' : '', description, priority },
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

/** What became of a certificate; why there is none. */
export function outcomeOf({ record, results = [] }: RecordObject): string {
  if (results.length > 0) return results.map(({ outcome }) => outcome).join(',');
  return 'reason' in record ? (record.reason ?? '') : '';
}

/** Who asked: the most exact that is known. */
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

/** As kubectl writes ages, roughly (apimachinery's duration.HumanDuration). */
function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [minutes, hours, days] = [seconds / 60, seconds / 3600, seconds / 86_400].map(Math.floor);
  if (seconds < 120) return `${seconds}s`;
  if ((minutes ?? 0) < 180) return `${minutes}m`;
  return (hours ?? 0) < 48 ? `${hours}h` : `${days}d`;
}
