// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { Condition } from '../../api/request/conditions.ts';
import type { KubeObject } from '../../api/object/object.ts';

/** An object whose status has conditions, or may have. */
export type Conditioned = KubeObject & {
  readonly status?: { readonly conditions?: readonly Condition[] };
};

/**
 * All of a request that is a reason to look at it again when it changes: its annotations, which
 * conditions there are, and what those besides Ready say. As text; the same text, the same request.
 * Labels, Ready's own words and whatever else is written are none (issuer-lib's README, "Note that a
 * reconciliation will only be triggered").
 */
export function predicateText({ metadata, status }: Conditioned): string {
  const annotations = Object.entries(metadata.annotations ?? {}).sort(byFirst);
  const conditions = (status?.conditions ?? [])
    .map(({ type, status: is, reason, message }) =>
      type === 'Ready' ? [type] : [type, is, reason, message],
    )
    .sort(byFirst);
  return JSON.stringify([annotations, conditions]);
}

/** The same, short, for what is not kept whole. */
export function predicateDigest(request: Conditioned): string {
  return createHash('sha256').update(predicateText(request)).digest('base64');
}

function byFirst([a = '']: readonly unknown[], [b = '']: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1;
}
