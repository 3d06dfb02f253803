// SPDX-License-Identifier: Apache-2.0
/** Core `v1` Service: the fields that say which pods it selects and which DNS records it has. */
import type { KubeObject } from './object.ts';

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    /** `None` for a headless Service. */
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
  };
}

/** A Service without a cluster IP, whose endpoints have names of their own (Kubernetes DNS specification §2.4). */
export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === 'None';
}

/**
 * Whether the endpoints of a Service are the pods that its selector selects: not those of an ExternalName, which is an
 * alias for a name elsewhere, nor those of a Service without a selector, whose endpoints somebody else writes. One that
 * is being deleted has none for long.
 */
export function hasSelectedEndpoints({ spec, metadata }: Service): boolean {
  const { type, selector = {} } = spec ?? {};
  const isSelector = type !== 'ExternalName' && Object.keys(selector).length > 0;
  return isSelector && metadata.deletionTimestamp === undefined;
}

/** Whether a Service selects pods with these labels, of its own namespace. */
export function selectsLabels(
  service: Service,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  const wanted = Object.entries(service.spec?.selector ?? {});
  return hasSelectedEndpoints(service) && wanted.every(([key, value]) => labels[key] === value);
}
