// SPDX-License-Identifier: Apache-2.0
/** Core `v1` Service: the fields that select pods and give DNS records. */
import type { KubeObject } from './object.ts';

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    /** `None` for a headless Service. */
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
  };
}

/**
 * Reports whether the Service has no cluster IP. Its endpoints then have their own names
 * (Kubernetes DNS specification §2.4).
 */
export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === 'None';
}

/**
 * Limit on labels of a selector. Common ones have up to six. The API server accepts tens of
 * thousands from any user who may create a Service, and every request of a pod in its namespace
 * compares them.
 */
export const MAX_SELECTOR_LABELS = 32;

/**
 * Limit on the characters of a selector's keys and values together. Each may have some 380, and
 * the selector of every Service stays in memory.
 */
export const MAX_SELECTOR_CHARACTERS = 2048;

/**
 * Reports whether the endpoints of a Service are the pods that its selector selects. Returns false
 * for an ExternalName, which is an alias for a name elsewhere. Returns false without a selector,
 * because another writer makes the endpoints. Returns false for a Service that is being deleted,
 * which soon has none, and above {@link MAX_SELECTOR_LABELS} or {@link MAX_SELECTOR_CHARACTERS}.
 */
export function hasSelectedEndpoints({
  spec,
  metadata,
}: Pick<Service, 'spec' | 'metadata'>): boolean {
  const { type, selector = {} } = spec ?? {};
  if (type === 'ExternalName' || metadata.deletionTimestamp !== undefined) return false;
  const labels = Object.entries(selector);
  if (labels.length === 0 || labels.length > MAX_SELECTOR_LABELS) return false;
  const characters = labels.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return characters <= MAX_SELECTOR_CHARACTERS;
}

/** Reports whether a Service selects pods with these labels in its own namespace. */
export function selectsLabels(
  service: Service,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  if (!hasSelectedEndpoints(service)) return false;
  const { selector = {} } = service.spec ?? {};
  return Object.keys(selector).every((key) => labels[key] === selector[key]);
}
