// SPDX-License-Identifier: Apache-2.0
/** Texts about restarts and their credentials, by where users read them. */
import { quote } from '#base/quote.ts';

// Events: why a workload is not restarted

export function unknownMode(annotation: string, mode: string): string {
  return `annotation ${annotation} is ${quote(mode)}; write "secrets", "restart" or "off"`;
}

export function unknownWay(annotation: string, way: string): string {
  return `annotation ${annotation} is ${quote(way)}; write "rollout" or "eviction"`;
}

export function invalidWindow(annotation: string, fault: string): string {
  return `annotation ${annotation}: ${fault}`;
}

export const ON_DELETE =
  'updateStrategy is OnDelete: no controller replaces its pods; delete them yourself';
export const PAUSED = 'it is paused; continue with kubectl rollout resume';
export const DEADLINE_EXCEEDED = 'the progress deadline is exceeded';

export function partitioned(partition: number): string {
  return `updateStrategy.rollingUpdate.partition is ${partition}: pods below it are not replaced`;
}

export function reverted(annotation: string, tries: number, writer: string | undefined): string {
  const by = writer === undefined ? 'another writer' : `field manager ${quote(writer)}`;
  const times = tries === 1 ? 'again' : `${tries} times`;
  return `${by} took the annotation ${annotation} away from its pod template ${times}; have it ignore that annotation, then run kubectl rollout restart`;
}

// Events: what is not known of a credential

export function severalCertificates(secret: string): string {
  return `several Certificates write Secret ${secret}; leave one`;
}

export function unknownLeaf(certificate: string, revision: number, secret: string): string {
  return `Certificate ${certificate} controls no issued CertificateRequest of revision ${revision}, so the certificate in Secret ${secret} is not known; let pod-refresher read the Secret: its argument --secret=${secret}, and a role that names it (countersign rbac --refresh-secret, docs/how-to/restart-on-renewal.md)`;
}

export function unknownRenewal(signerName: string, pods: string): string {
  return `unknown whether the kubelet has renewed the credential of ${signerName} of ${pods}`;
}

export function unknownAnchors(bundle: string, pods: string): string {
  return `unknown whether the anchors of ${bundle} changed after ${pods} read them`;
}

export function podNames(names: readonly string[]): string {
  const [first = '', ...others] = names;
  return others.length === 0 ? `pod ${first}` : `pod ${first} and ${others.length} more`;
}

// Flags and annotations

export function unreadableWindow(text: string, fault: string): string {
  return `window ${quote(text)} ${fault}; write it in UTC like "Mon-Fri 22:00-06:00; Sat,Sun 00:00-24:00"`;
}

export const TOO_LONG = 'is too long';
export const NOT_READABLE = 'is not readable';
