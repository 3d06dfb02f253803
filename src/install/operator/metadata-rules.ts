// SPDX-License-Identifier: Apache-2.0
/**
 * Labels, annotations and priorities that the writer of a spec may give to Deployments and pods.
 */
import type { ComponentOverrides } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import { quote } from '#base/quote.ts';
import { isRecord } from '#base/record.ts';
import * as messages from './messages.ts';

/**
 * Domains whose keys, with those of their subdomains, Kubernetes, Helm, cert-manager and
 * Countersign interpret.
 */
const RESERVED = ['kubernetes.io', 'k8s.io', 'helm.sh', 'cert-manager.io', 'countersign.dev'];

/** Keys of reserved domains that users need or that describe, and that grant nothing. */
const HARMLESS: ReadonlySet<string> = new Set([
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/version',
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
]);

/**
 * Domains of webhooks that put containers or code into pods that request it. The list is
 * incomplete.
 */
const INJECTORS = [
  'istio.io',
  'linkerd.io',
  'kuma.io',
  'dapr.io',
  'hashicorp.com',
  'banzaicloud.io',
  'opentelemetry.io',
  'jaegertracing.io',
  'odigos.io',
  'dynatrace.com',
  'newrelic.com',
  'admission.datadoghq.com',
  'tumblr.com',
  'openpolicyagent.org',
];

/** Values by which users opt out of such a webhook. */
const KEPT_AWAY: ReadonlySet<unknown> = new Set(['false', 'disabled']);

/** Overrides of a component, with their place in the spec. */
type PlacedOverrides = readonly [at: string, given: ComponentOverrides];

/**
 * Rejects labels and annotations that other controllers interpret, and the priorities of Kubernetes
 * itself.
 *
 * @param dangerZone - the administrator allows injection of containers, and those priorities
 */
export function refuseMetadata(
  overrides: readonly PlacedOverrides[],
  dangerZone: boolean,
): Refusal | undefined {
  for (const [at, given] of overrides) {
    const refusal =
      refuseKeys(`${at}.labels`, given['labels'], dangerZone) ??
      refuseKeys(`${at}.annotations`, given['annotations'], dangerZone) ??
      refusePriority(at, given['priorityClassName'], dangerZone);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function refuseKeys(at: string, given: unknown, dangerZone: boolean): Refusal | undefined {
  for (const [key, value] of Object.entries(isRecord(given) ? given : {})) {
    const why = whyNot(key, value, dangerZone);
    if (why !== undefined)
      return { reason: 'ReservedKey', message: `${at}: ${quote(key, 128)} ${why}` };
  }
  return undefined;
}

function whyNot(key: string, value: unknown, dangerZone: boolean): string | undefined {
  const reserved = domainOf(key, RESERVED);
  if (reserved !== undefined && !HARMLESS.has(key)) return messages.reservedKey(reserved);
  const injector = domainOf(key, INJECTORS);
  const isKeptAway = /\/(?:inject|enabled)$/.test(key) && KEPT_AWAY.has(value);
  if (injector === undefined || dangerZone || isKeptAway) return undefined;
  return messages.injectorKey(injector);
}

/** Returns the domain that the key's prefix is, or is below. */
function domainOf(key: string, domains: readonly string[]): string | undefined {
  const slash = key.indexOf('/');
  const prefix = key.slice(0, Math.max(slash, 0)).toLowerCase();
  return domains.find((each) => prefix === each || prefix.endsWith(`.${each}`));
}

/**
 * Rejects `system-*` priorities, which preempt other workloads and protect these pods from
 * eviction.
 */
function refusePriority(at: string, given: unknown, dangerZone: boolean): Refusal | undefined {
  if (dangerZone || typeof given !== 'string' || !given.startsWith('system-')) return undefined;
  const message = messages.reservedPriority(at, given);
  return { reason: 'PriorityNotAllowed', message };
}
