// SPDX-License-Identifier: Apache-2.0
/** Texts of the attester, by where users read them. */
import { quote } from '#base/quote.ts';

// Log

export const BUNDLE_PUBLISHED = 'bundle published';
export const BUNDLE_UPDATED = 'bundle updated';
export const BUNDLE_DELETED =
  'bundle deleted: its last leaf has expired, or all its anchors are distrusted';

// Events and log

export function bundleRepaired(cause: string, verb: string, signerName: string): string {
  return `bundle repaired: ${cause}; it holds the anchors of its ClusterSigner again. Find out who may ${verb} ClusterTrustBundles and attest for ${signerName}`;
}

export const DELETED_BY_ANOTHER_CLIENT = 'another client had deleted it; the audit log names it';

export function changedBy(editor: string, contents: string): string {
  return `${editor} had changed it, ${contents}`;
}

export const ANOTHER_CLIENT = 'another client';

export function fieldManager(name: string): string {
  return `field manager ${quote(name)}`;
}

export function addedAnchors(named: string, more: string): string {
  return `it held ${named}${more}`;
}

export function moreAnchors(count: number): string {
  return `, and ${count} more`;
}

export const UNREADABLE_TEXT = 'its text could not be read';

export function foreignBundle(signerName: string, signer: string): string {
  return `this bundle adds trust anchors under ${signerName}, but ClusterSigner ${signer} does not publish it; delete it unless you know who created it`;
}

// /readyz

export function unlisted(failure: string | undefined): string {
  return `ClusterSigners or bundles: ${failure ?? 'not listed yet'}`;
}
