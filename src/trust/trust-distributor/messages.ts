// SPDX-License-Identifier: Apache-2.0
/** Texts of the trust-distributor, by where users read them. */
import { listInInstallation } from '#api/operator/installation-value.ts';
import { quote } from '#base/quote.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { SIGNER_TRUST } from '#api/signer/signer.ts';

// Log

export const CONFIG_MAP_WRITTEN = 'ConfigMap with trust anchors written';
export const CONFIG_MAP_DELETED =
  'ConfigMap with trust anchors deleted: its namespace opted out, or none is left';

export function unnamedSigner(signerName: string): string {
  return `left alone: it does not name signer ${signerName} in annotation countersign.dev/signer-name; annotate it or delete it`;
}

export function unreadCopies(configMap: string): string {
  return `the bundle is gone, and its copies cannot be read: they may remain; run ${deletionOf(configMap)}`;
}

function deletionOf(configMap: string): string {
  return `kubectl delete configmaps --all-namespaces --field-selector metadata.name=${configMap}`;
}

export const CA_BUNDLE_WRITTEN = 'caBundle written';
export const CA_BUNDLE_WITHOUT_SIGNER =
  'left alone: its annotation countersign.dev/signer-name names no signer that publishes a bundle; annotate it';
export const SIGNER_ANCHORS_WRITTEN = 'anchors of Signers written';
export const SIGNER_ANCHORS_DELETED = 'anchors of Signers deleted';
export const FOREIGN_SIGNER_TRUST = `left alone: its annotation ${SIGNER_NAME} is not ${SIGNER_TRUST}; annotate it or delete it`;

export function contested(field: string, writer: string | undefined): string {
  const by = writer === undefined ? 'another writer' : `field manager ${quote(writer)}`;
  return `${by} replaces its ${field} again and again; have it leave that field alone, or remove the annotation ${SIGNER_NAME}`;
}

// Condition Degraded of the ClusterSigner

export function laggingTargets(named: string, more: string): string {
  return `${named}${more} cannot be written; see the log of trust-distributor`;
}

export function notedTarget(target: string, note: string): string {
  return `${target} (${note})`;
}

export function moreTargets(count: number): string {
  return ` and ${count} more`;
}

export function configMap(key: string): string {
  return `ConfigMap ${key}`;
}

// /readyz

export function unlistedSigners(failure: string | undefined): string {
  return `ClusterSigners: ${failure ?? 'not listed yet'}`;
}

export function unlisted(what: string, failure: string | undefined): string {
  return `${what}: ${failure ?? 'not listed yet'}`;
}

export function retiredCopies(permission: string, configMap: string): string {
  return `cannot ${permission}: copies of a retired bundle stay as they are, with anchors that may be distrusted; run ${deletionOf(configMap)}`;
}

export function permissionMissing(
  component: string,
  permission: string,
  namespace: string,
): string {
  const advice = listInInstallation({
    what: 'the Secret of a Signer there',
    value: 'namespacedSigners.secrets',
    flag: `--signer-secret ${namespace}/<name>`,
  });
  return `${component} was not granted ${permission}; ${advice}`;
}
