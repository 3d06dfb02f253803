// SPDX-License-Identifier: Apache-2.0
/** Texts of the notifier, by where users read them. */
import { formatTime } from '#api/object/time.ts';
import { quote } from '#base/quote.ts';
import { CURSORS } from './objects.ts';

/** Characters of a target's answer that a text repeats. */
const MAX_ANSWER_TEXT = 120;

// Events

export function targetReturnedGone(target: string): string {
  return `target ${target} returned 410 Gone: update (--target, value notifications.targets) or remove it, then restart notifier`;
}

// Log

export const NOTIFICATION_DELAYED = 'a notification is delayed; retrying';
export const NOTIFICATIONS_RESUMED = 'notifications are taken again';
export const NOTIFICATION_REFUSED = 'a notification is refused';
export const TARGET_GONE = 'a target of notifications is gone (410)';
export const NOTIFICATIONS_LATE = 'notifications are repeated or late';

// Log, /readyz and the report in the Lease

export function silentTarget(name: string, since: number, fault: string): string {
  return `target ${name} has taken nothing since ${formatTime(since)}: ${fault}`;
}

export function notificationsLate(cause: string): string {
  return `notifications are repeated or late: ${cause}`;
}

export function failingTarget(name: string, fault: string): string {
  return `target ${name} does not receive events: ${fault}`;
}

export const RETURNED_GONE = 'it returned 410 Gone: no events until notifier restarts';
export const NO_SECRET = 'the file of its secret is missing or empty';
export const WEAK_SECRET =
  'a secret of it has fewer than 24 bytes: write whsec_ and the base64 of 32 random bytes';

export function originNotAllowed(origin: string): string {
  return `it does not allow events of ${origin} (WebHook-Allowed-Origin)`;
}

export const REDIRECTS = 'it redirects: name the address itself';

export function httpStatus(status: number, words: string): string {
  return `it answers ${status}${words === '' ? '' : `: ${quote(words, MAX_ANSWER_TEXT)}`}`;
}

export function cursorsMissing(namespace: string): string {
  return `ConfigMap ${CURSORS} in ${namespace} with the cursors of the targets is missing: apply the manifests again`;
}

// /readyz

export const NO_TARGET = 'no --target: no events are sent';

export function unwatchedExpiries(forgotten: number, max: number): string {
  return `the expiry of ${forgotten} certificates is not watched: the limit is ${max}, and the oldest of the largest namespaces or users were dropped`;
}

export function unlisted(plural: string, failure: string | undefined): string {
  return `${plural}: ${failure ?? 'not listed yet'}`;
}

export function brokenWatch(plural: string, failure: string): string {
  return `${plural}: ${failure}`;
}

export function unlistedSigners(failure: string | undefined): string {
  return `ClusterSigners: ${failure ?? 'not listed yet'}`;
}

export function unlistedAcmeSigners(failure: string | undefined): string {
  return `AcmeClusterSigners: ${failure ?? 'not listed yet'}`;
}

// Refused flags

export function unknownTarget(name: string): string {
  return `target ${name} is named by no --target`;
}

export const TARGETS = 'targets of notifications';
export const NAMESPACE_NEEDED =
  'notifier stores its cursors in the namespace of the components: write --lease-namespace, and leave --no-leases out';
