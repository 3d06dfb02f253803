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
 * Reports whether the endpoints of a Service are the pods that its selector selects. Returns false
 * for an ExternalName, which is an alias for a name elsewhere. Returns false without a selector,
 * because another writer makes the endpoints. Returns false for a Service that is being deleted,
 * which soon has none.
 */
export function hasSelectedEndpoints({ spec, metadata }: Service): boolean {
  const { type, selector = {} } = spec ?? {};
  const isSelector = type !== 'ExternalName' && Object.keys(selector).length > 0;
  return isSelector && metadata.deletionTimestamp === undefined;
}

/** Reports whether a Service selects pods with these labels in its own namespace. */
export function selectsLabels(
  service: Service,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  const wanted = Object.entries(service.spec?.selector ?? {});
  return hasSelectedEndpoints(service) && wanted.every(([key, value]) => labels[key] === value);
}
