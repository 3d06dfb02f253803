// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object/object.ts';

/** What of an object is not its signer's, as JSON: two versions with the same text differ in status only. */
export function frameOf(object: KubeObject & { readonly spec?: unknown }): string {
  const metadata = object.metadata as unknown as Readonly<Record<string, unknown>>;
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  return JSON.stringify({ labels, annotations, finalizers, ownerReferences, spec: object.spec });
}
