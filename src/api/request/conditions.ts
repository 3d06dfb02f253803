// SPDX-License-Identifier: Apache-2.0
import { printable } from '#base/quote.ts';

/**
 * `metav1.Condition`, and CertificateSigningRequest's own shape, which lacks observedGeneration.
 */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
}

/**
 * Limit in bytes. The API server rejects longer messages (`metav1.Condition`, ValidateCondition).
 */
const MAX_CONDITION_MESSAGE = 32_768;

const ELLIPSIS = '…';

/**
 * Prepares `text` for a condition: on one line, without invisible characters, truncated to `limit`
 * bytes with an ellipsis. The default is the API server's limit.
 */
export function conditionMessage(text: string, limit: number = MAX_CONDITION_MESSAGE): string {
  const shown = printable(text);
  const bytes = Buffer.from(shown);
  if (bytes.length <= limit) return shown;
  const kept = bytes.subarray(0, limit - Buffer.byteLength(ELLIPSIS)).toString();
  // Remove a character that the limit cut in two.
  return kept.replace(/\uFFFD+$/, '') + ELLIPSIS;
}

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Reports whether a condition is True. A CSR condition without a status counts as True, as in
 * kube-controller-manager.
 */
export function hasTrueCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): boolean {
  const found = findCondition(conditions, type);
  return found !== undefined && found.status !== 'False' && found.status !== 'Unknown';
}

/**
 * Replaces the condition of `next`'s type. Keeps lastTransitionTime if the status does not change.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  next: Condition & { readonly lastTransitionTime: string },
): readonly Condition[] {
  const before = findCondition(conditions, next.type);
  const kept =
    before?.status === next.status && before.lastTransitionTime !== undefined
      ? { ...next, lastTransitionTime: before.lastTransitionTime }
      : next;
  return [...(conditions ?? []).filter((condition) => condition.type !== next.type), kept];
}
