// SPDX-License-Identifier: Apache-2.0
/** Texts of the ledger, by where users read them. */
import { LEDGER_API } from '#api/signer/own-tls.ts';
import { quote } from '#base/quote.ts';
import { LOG_KEY_SECRET } from './objects.ts';
import { formatDuration } from '#api/object/duration.ts';

// The ledger's API: refused requests

export const UNSIGNED = 'sign the request as countersign ledger does, or send it to the API server';
export const READ_AND_ERASE_ONLY = 'records and logs can be read, and erasures created';
export const NO_WATCH = 'records cannot be watched';
export const NO_RESOURCE = 'the server could not find the requested resource';

export function cannotAnswer(cause: string): string {
  return `the ledger cannot answer now: ${cause}`;
}

export const NO_ANSWER = 'the API server did not answer';

export const TOO_MANY_LOOKUPS =
  'too many unknown tokens or readers of this address wait for the API server; send the request again';

export const TOO_MANY_REQUESTS =
  'the ledger has too many requests or unread answers of all callers; send the request again later';

export function tooManyRequests(caller: string): string {
  return `${quote(caller)} has too many requests or unread answers; wait for an answer, then send the request again`;
}

/** @param namespace - undefined for a read of all namespaces, which a RoleBinding does not grant */
export function forbidden(
  name: string,
  username: string,
  verb: string,
  namespace: string | undefined,
): string {
  const [place, advice] =
    namespace === undefined
      ? [
          AT_CLUSTER_SCOPE,
          'a ClusterRoleBinding to ClusterRole countersign-ledger-reader grants it, or name a namespace with -n',
        ]
      : [
          inNamespace(namespace),
          'a RoleBinding in it to ClusterRole countersign-ledger-reader grants it',
        ];
  return `records.${LEDGER_API.group}${name} is forbidden: User ${quote(username)} cannot ${verb} resource "records" in API group "${LEDGER_API.group}" ${place}; ${advice}`;
}

export const AT_CLUSTER_SCOPE = 'at the cluster scope';

export function inQuotedNamespace(namespace: string): string {
  return `in the namespace ${quote(namespace)}`;
}

function inNamespace(namespace: string): string {
  return `in the namespace "${namespace}"`;
}

export function recordNotFound(name: string): string {
  return `records.${LEDGER_API.group} ${quote(name)} not found`;
}

export function recordRemoved(name: string, author: string, time: string, record: string): string {
  return `records.${LEDGER_API.group} ${quote(name)} was removed by ${author} at ${time}, see record ${record}; its entry stays in the log, and proofs of it stay valid`;
}

export const AN_ERASURE = 'an erasure';

export function unusableSelector(fault: string): string {
  return `the field selector cannot be used: ${fault}`;
}

export const NO_LABELS = 'records have no labels; use a field selector';
export const OTHER_SEARCH = 'the continue token is of another search; search again';
export const INVALID_CONTINUE = 'continue is not a size of a log';

export function logNotFound(name: string): string {
  return `logs.${LEDGER_API.group} "${name}" not found, or it has no such file`;
}

export function notARequirement(field: string): string {
  return `${quote(field)} is not <field>=<value>`;
}

export function tooManyRequirements(count: number, max: number): string {
  return `it has ${count} requirements; use ${max} at most`;
}

export function invalidDuration(value: string): string {
  return `expiresIn is ${quote(value)}; write a duration as 7d, 24h or 90m`;
}

export function invalidKind(value: string, kinds: readonly string[]): string {
  return `kind is ${quote(value)}; use one of ${kinds.join(', ')} or any`;
}

export function invalidTime(field: string, text: string): string {
  return `${field} is ${quote(text)}; write a time as 2026-11-22T13:30:00Z, or a duration as 30d, 24h or 90m`;
}

export function invalidName(field: string, value: string): string {
  return `${field} is ${quote(value)}; write <namespace>/<name>, or search in a namespace`;
}

export function notHexadecimal(field: string, value: string): string {
  return `${field} is ${quote(value)}, which is not in hexadecimal`;
}

export function unknownField(field: string, fields: readonly string[]): string {
  return `there is no field ${quote(field)}; use ${fields.join(', ')}`;
}

/** Descriptions of the columns of a Table. */
export const COLUMNS = {
  Name: 'number of the log and index in it',
  Kind: 'kind of the record',
  Signer: 'signer name',
  For: 'requesting pod, ServiceAccount or user',
  Request: 'kind and name of the request',
  Result: 'result of the certificate',
  Expires: 'end of the certificate',
  Age: 'since it was appended',
  Rule: 'rule that allowed or denied it',
  CA: 'fingerprint of the CA',
};

// The ledger's API: refused erasures

export function erasureForbidden(username: string, place: string): string {
  return `erasures.${LEDGER_API.group} is forbidden: User ${quote(username)} cannot create resource "erasures" in API group "${LEDGER_API.group}" ${place}`;
}

export const NOT_AN_ERASURE = `the body is not an Erasure of ${LEDGER_API.group}/${LEDGER_API.version} in JSON`;

export function invalidRecords(max: number): string {
  return `spec.records must name 1 to ${max} records, such as 1-42`;
}

export const INVALID_LIVING = 'spec.living must be a boolean';

export function unknownMember(member: string): string {
  return `spec has no member ${quote(member)}`;
}

export function removalRecord(name: string): string {
  return `${quote(name)} is the record of a removal, which cannot be removed`;
}

export function stillValid(names: string, more: string): string {
  return `the certificates of ${names}${more} are still valid, and without their records you cannot find their holders. Revoke them first, or wait until they expire. To remove the records nevertheless, use countersign ledger erase --include-valid (spec.living: true)`;
}

export function moreRecords(count: number): string {
  return ` and ${count} more`;
}

export const NOT_YET = 'this replica does not lead, or has no key yet';

// Refused records of components

export const NO_TOKEN = 'no token of this cluster for the ledger';
export const MAY_NOT_APPEND = 'the token belongs to no component that may append';
export const NOT_RECORDS = 'the body is not a list of records';

export function invalidGrant(text: string, components: readonly string[]): string {
  return `${quote(text)} names no component that appends; write <component>=<signer name> with one of ${components.join(', ')}`;
}

export function kindNotRecorded(component: string, kind: string): string {
  return `${component} records no ${kind}`;
}

export function appendsAsAnother(component: string): string {
  return `${component} appends as another component`;
}

export function foreignKey(component: string, prefix: string): string {
  return `a key of ${component} must begin with ${prefix}`;
}

export function signerNotListed(component: string, signerName: string): string {
  return `${component} is not listed for signer ${quote(signerName)}; add --appender=${component}=<signer name> to the ledger if it serves it`;
}

export function notTaken(cause: string): string {
  return `the ledger does not take a record: ${cause}`;
}

// Events and conditions of signers

export function unrecordedCertificate(seenIn: string, serial: string, ca: string): string {
  return `${seenIn} has a certificate with serial ${serial} of CA ${ca}, and the ledger has no record of it. Either the key of the CA was stolen, or the record was lost or withheld: with --ledger-mode=best-effort, a component that ends while the ledger is away loses its records. See ConfigMap countersign-ledger-findings. If you cannot explain the certificate, distrust the CA`;
}

export function openFindings(serial: string, seenIn: string, more: string): string {
  return `the certificate ${serial} (${seenIn})${more} of its CA has no record: the CA's key may be stolen; see ConfigMap countersign-ledger-findings`;
}

export function moreFindings(count: number): string {
  return ` and ${count} more`;
}

// Log

export const REQUEST_FAILED = 'a request for records failed';
export const RECORDS_REMOVED = 'records are removed';
export const RECORDS_NOT_APPENDED = 'records are not appended';
export const CANNOT_COMPARE = 'cannot compare certificates with records';
export const NO_RECORD = 'a certificate of a managed CA has no record';
export const CHECKPOINT_CONTRADICTED = 'a checkpoint is contradicted from outside';
export const CHECKPOINT_NOT_PUBLISHED = 'a checkpoint is not published';
export const RETENTION_REMOVED = 'retention has removed records';
export const CHECKPOINTS_THINNED = 'checkpoints are thinned';
export const NO_CHECKPOINT_SIGNED = 'no checkpoint is signed';
export const AHEAD_OF_CLOCK = 'the ledger is ahead of the clock';
export const CHECKPOINT_NOT_IN_CLUSTER = 'a checkpoint is not in the cluster yet';
export const APPENDS = 'appends to the ledger';

// /readyz and log: the ledger's own work

export const NOT_LEADING = 'this replica does not lead: it appends nothing';

export function notSigned(fault: string): string {
  return `no checkpoint is signed: ${fault}`;
}

export function checkpointNotInCluster(fault: string): string {
  return `the last checkpoint is not in the cluster: ${fault}`;
}

export function aheadUntil(time: string): string {
  return `until ${time}, all records get this time: the clock of an earlier leader was ahead, and times of the ledger never decrease. Correct the clocks of the nodes`;
}

export const INVALID_LOG_KEY = `Secret ${LOG_KEY_SECRET} holds no Ed25519 key in PKCS#8; restore it from a backup: another key begins another log`;
export const NO_KEY = 'no key';
export const RECORDS_STAY = 'some records are not removed';
export const CHECKPOINTS_STAY = 'no checkpoint is removed';

export function hourlyFault(impact: string, fault: string): string {
  return `${impact}: ${fault}`;
}

export function retentionShort(retention: number, signer: string, longest: number): string {
  return `--retention is ${formatDuration(retention)}, and certificates of signer ${signer} live for ${formatDuration(longest)}: the ledger keeps its records that long; write at least that`;
}

export const NO_CLIENT_CA = 'the API server publishes no requestheader client CA';
export const CLIENT_CA_UNREADABLE = 'cannot read the CA of the API server';

// /readyz and log: comparing with the cluster

export function crlsUnreadable(configMap: string, failure: string): string {
  return `the CRLs in ConfigMap ${configMap}: ${failure}`;
}

export function notCompared(fault: string): string {
  return `certificates are not compared with records: ${fault}`;
}

export function unrecordedCas(count: number): string {
  return `certificates of ${count} CAs are not compared with records: the CA itself has no record`;
}

export function incompleteWatch(failure: string): string {
  return `the monitor does not see all certificates: ${failure}`;
}

// /readyz and log: publishing checkpoints

export function checkpointMissing(destination: string, fault: string): string {
  return `${destination} lacks the last checkpoint: ${fault}`;
}

export const REDIRECTS = 'it redirects: name the address itself';

export function httpStatus(status: number, words: string): string {
  return `it answers ${status}${words}`;
}

export const INVALID_URL_FILE = 'its file must hold a pre-signed https:// URL';
export const URL_EXPIRED = 'it answers 403: the pre-signed URL may have expired';
export const EMPTY_SECRET = 'the file of its secret is empty';
export const OTHER_TREE =
  'it has cosigned a tree that the log does not begin with: the log was rewritten, or an older copy of the database was continued';

export function unknownLog(key: string): string {
  return `it does not know the log: give its operator the key ${key}`;
}

export function largerTree(known: number, size: number): string {
  return `it has cosigned ${known} entries, and the log has ${size}: an older copy of the database was restored`;
}

// Log, /readyz and refused flags: the start

export const ONE_VOLUME =
  'the records are in SQLite on one volume: while its node is lost, components with --ledger-mode=required issue nothing';
export const CAN_APPEND = 'components can append';
export const SERVES_CRLS = 'serves CRLs';
export const NAMESPACE_NEEDED =
  'the ledger needs the namespace of the components, whose tokens it takes: write --lease-namespace, and leave --no-leases out';
