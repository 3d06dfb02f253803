// SPDX-License-Identifier: Apache-2.0
/** Which labels, annotations and priorities the writer of a spec may give to Deployments and pods. */
import type { ComponentOverrides } from '../../api/operator/countersign.ts';
import type { Refusal } from '../../installing/desired.ts';
import { quote } from '../../quote.ts';
import { isRecord } from '../../reconciling/objects/managed-object.ts';

/** Kubernetes, Helm, cert-manager and we act upon keys of these domains and of those below. */
const RESERVED = ['kubernetes.io', 'k8s.io', 'helm.sh', 'cert-manager.io', 'countersign.dev'];

/** Keys of reserved domains that describe, or that people need, and that give no right to anything. */
const HARMLESS: ReadonlySet<string> = new Set([
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/version',
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
]);

/** Webhooks that put containers or code into the pods that ask for it. Their list is never whole. */
const INJECTORS = [
  ...['istio.io', 'linkerd.io', 'kuma.io', 'dapr.io', 'hashicorp.com', 'banzaicloud.io'],
  ...['opentelemetry.io', 'jaegertracing.io', 'odigos.io', 'dynatrace.com', 'newrelic.com'],
  ...['admission.datadoghq.com', 'tumblr.com', 'openpolicyagent.org'],
];

/** How people keep such a webhook away. */
const KEPT_AWAY: ReadonlySet<unknown> = new Set(['false', 'disabled']);

/** Overrides of a component, with their place in the spec. */
type PlacedOverrides = readonly [at: string, given: ComponentOverrides];

/**
 * Refuses labels and annotations that others act upon, and the priorities of Kubernetes itself.
 *
 * @param dangerZone - whether an administrator allows what puts containers into pods, and those priorities
 */
export function refuseMarks(
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
  if (reserved !== undefined && !HARMLESS.has(key))
    return `is of ${reserved}, whose keys decide what controllers do; write one of a domain of your own`;
  const injector = domainOf(key, INJECTORS);
  const isKeptAway = /\/(?:inject|enabled)$/.test(key) && KEPT_AWAY.has(value);
  if (injector === undefined || dangerZone || isKeptAway) return undefined;
  return `is of ${injector}, by which a webhook puts containers or code into pods that hold keys; an administrator adds --allow-danger-zone to the operator’s flags, or leave it out (to keep the webhook away, the key of that name may be "false" or "disabled")`;
}

/** Which of the domains the key's prefix is, or is below. */
function domainOf(key: string, domains: readonly string[]): string | undefined {
  const slash = key.indexOf('/');
  const prefix = key.slice(0, Math.max(slash, 0)).toLowerCase();
  return domains.find((each) => prefix === each || prefix.endsWith(`.${each}`));
}

/** With them, the scheduler evicts whoever is in the way, and the kubelet nobody of ours. */
function refusePriority(at: string, given: unknown, dangerZone: boolean): Refusal | undefined {
  if (dangerZone || typeof given !== 'string' || !given.startsWith('system-')) return undefined;
  const message = `${at}.priorityClassName: ${quote(given, 128)} is of Kubernetes’ own, and evicts other workloads; name a PriorityClass of yours, or an administrator adds --allow-danger-zone to the operator’s flags`;
  return { reason: 'PriorityNotAllowed', message };
}
