// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { Condition } from '#api/request/conditions.ts';
import type { KubeObject } from '#api/object/object.ts';

/** An object whose status has conditions, or may have. */
export type ConditionedObject = KubeObject & {
  readonly status?: { readonly conditions?: readonly Condition[] };
};

/**
 * Returns the parts of a request whose change triggers a reconciliation, as text: its annotations,
 * the types of its conditions, and the content of each condition except Ready. No change of labels,
 * of Ready's content or of any other field triggers one (issuer-lib's README, "Note that a
 * reconciliation will only be triggered").
 */
function predicateText({ metadata, status }: ConditionedObject): string {
  const annotations = Object.entries(metadata.annotations ?? {}).sort(byFirst);
  const conditions = (status?.conditions ?? [])
    .map(({ type, status: is, reason, message }) =>
      type === 'Ready' ? [type] : [type, is, reason, message],
    )
    .sort(byFirst);
  return JSON.stringify([annotations, conditions]);
}

/** Returns the SHA-256 of the parts that trigger a reconciliation. Equal digests trigger none. */
export function predicateDigest(request: ConditionedObject): string {
  return createHash('sha256').update(predicateText(request)).digest('base64');
}

function byFirst([a = '']: readonly unknown[], [b = '']: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1;
}
