// SPDX-License-Identifier: Apache-2.0
/** Texts of the cert-manager-operator, by where users read them. */
import { quote, printable } from '#base/quote.ts';
import { RELEASE_KEY } from '#api/operator/cert-manager-deployment.ts';
import { MIN_SOURCES } from './releases.ts';

// Condition of the object: why its spec is refused

export function unconfirmedVersion(cause: string): string {
  return `spec.version: ${cause}; an administrator gives the sum that countersign cert-manager-operator release names, with the operator’s flag --allow-release`;
}

export function unsupportedVersion(versions: string, version: string, advice: string): string {
  return `spec.version: this operator installs cert-manager ${versions}, and not ${quote(version, 64)}${advice}`;
}

export const LATER_PATCH =
  '; an administrator lists a later patch with the operator’s flag --allow-release';
export const DANGER_ZONE_NOT_ALLOWED =
  'spec.dangerZone: it is not allowed; an administrator adds --allow-danger-zone to the operator’s flags';

export function argumentsOf(component: string): string {
  return `the extraArgs of ${component}`;
}

export function unknownFlags(version: string, flags: string): string {
  return `cert-manager ${version} does not know ${flags}; correct it, or use spec.dangerZone`;
}

export function verbose(flag: string): string {
  return `${flag} is not 0 to 7: with more, Secrets are in the log`;
}

export const NO_WEBHOOK =
  'spec.components.webhook.replicas: without a pod of the webhook, the API server rejects every Certificate; write 1 or more';

// Condition of the object: why its release is refused

export function releaseMissing(namespace: string, name: string, remedy: string): string {
  return `ConfigMap ${namespace}/${name} is not there; ${remedy}`;
}

export function releaseKeyMissing(namespace: string, name: string, remedy: string): string {
  return `ConfigMap ${namespace}/${name} has no binaryData ${RELEASE_KEY}; delete it, then ${remedy}`;
}

export function createRelease(namespace: string): string {
  return `run with cert-manager.yaml of the release: countersign cert-manager-operator release cert-manager.yaml -n ${namespace} | kubectl apply --server-side -f -`;
}

export function releaseNotReadable(namespace: string, name: string, fault: string): string {
  return `ConfigMap ${namespace}/${name}: ${fault}; ${REMEDY}`;
}

export function releaseRejected(fault: string): string {
  return `the release file is rejected: ${printable(fault)}`;
}

export function tooManyDocuments(max: number): string {
  return `it has more than ${max} documents`;
}

export function notAnObject(number: number): string {
  return `its document ${number} is not an object, or is truncated`;
}

export function unknownKind(title: string): string {
  return `${printable(title)} is of a kind that is not installed`;
}

export function tooLarge(bytes: number): string {
  return `unpacked, it is larger than ${bytes} bytes`;
}

export function notGzip(fault: string): string {
  return `it is not a complete gzip file of UTF-8: ${fault}`;
}

export function wrongRelease(version: string, what: string): string {
  return `the release file is not cert-manager ${quote(version, 64)}: ${what}; use the file of that release as it was published`;
}

export function unknownSum(sum: string, differences: string): string {
  return `its objects have the sum ${sum}, which belongs to no known release${differences}`;
}

export function isVersion(version: string): string {
  return `it is ${version}`;
}

export function confirmRelease(cause: string, sum: string, made: string, version: string): string {
  return `${cause}; the objects of the file have the sum ${sum}, ${made}; compare the file with the release, then give the sum: --allow-release ${version}=${sum}`;
}

export const SAME_AS_MODULE = 'as the objects of its Go module have';

export function otherThanModule(differences: string): string {
  return `and the objects of its Go module have another${differences}`;
}

export function unconfirmed(version: string, count: number): string {
  return `cert-manager ${version} is unconfirmed: ${count} public repositories are known that name the SHA-256 of its file, and it takes ${MIN_SOURCES}`;
}

export const UNKNOWN_DIFFERENCES = ' (which objects differ is not known)';

export function duplicates(count: number): string {
  return `${count} objects twice`;
}

export function differing(how: string, names: readonly string[], more: number): string {
  return `${how} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

// Condition of the object: what the operator lacks

export const REMEDY =
  'apply what countersign rbac --cert-manager-operator prints with the flags of the first time (--cert-manager-operator-namespace, --image, --allow-release, --allow-danger-zone): the output also has the Deployment of the operator';

// Manifests

export const DESCRIPTION =
  'Installs and heals cert-manager. A user who may change it can read every Secret.';
