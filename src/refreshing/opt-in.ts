// SPDX-License-Identifier: Apache-2.0
/** Who asked to be restarted: the namespace by a label, the workload by an annotation. Neither alone is enough. */
import { parseDuration } from '../api/object/duration.ts';
import type { Pod } from '../api/object/pod.ts';
import type { Workload } from '../api/workload/workload.ts';
import { attempt, SignerError } from '../errors.ts';
import { quote } from '../quote.ts';
import { parseWindow, type RefreshWindow } from './window.ts';

/** The annotation of a workload, and the label of a namespace. */
export const REFRESH = 'countersign.dev/refresh';

/** The value of the label of a namespace. */
export const NAMESPACE_OPTED_IN = 'enabled';

/** The annotation of a workload with its own window. */
const REFRESH_WINDOW = 'countersign.dev/refresh-window';

/** The annotation of a pod, so of a pod template: how long before its credential ends it is evicted. */
const EVICT_BEFORE_EXPIRY = 'countersign.dev/evict-before-expiry';

/**
 * What a workload asks for:
 * - `secrets`: a restart when the certificate of a Secret that it uses has changed;
 * - `restart`: the same for volumes that the kubelet rewrites, because it cannot read files again.
 */
export type RefreshWish = 'secrets' | 'restart';

/** What the annotations of a workload say. */
export type OptIn =
  | { readonly kind: 'out' }
  | { readonly kind: 'in'; readonly wish: RefreshWish; readonly window: RefreshWindow | undefined }
  | { readonly kind: 'invalid'; readonly message: string };

const WISHES: readonly string[] = ['secrets', 'restart'] satisfies readonly RefreshWish[];

/** Reads the annotations of a workload. Without them, or with `off`, it is left alone. */
export function optInOf({ metadata }: Workload): OptIn {
  const wish = metadata.annotations?.[REFRESH];
  const window = metadata.annotations?.[REFRESH_WINDOW];
  if (wish === undefined || wish === 'off') return { kind: 'out' };
  if (!WISHES.includes(wish)) {
    const message = `annotation ${REFRESH} is ${quote(wish)}; write "secrets", "restart" or "off"`;
    return { kind: 'invalid', message };
  }
  const read = window === undefined ? undefined : attempt(() => parseWindow(window));
  if (read instanceof SignerError) {
    return { kind: 'invalid', message: `annotation ${REFRESH_WINDOW}: ${read.message}` };
  }
  return { kind: 'in', wish: wish as RefreshWish, window: read };
}

/** Whether the namespace's label opts in. */
export function isNamespaceOptedIn(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[REFRESH] === NAMESPACE_OPTED_IN;
}

/** Milliseconds before the end of its credential, or undefined where the pod does not ask, or not readably. */
export function evictionLeadOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[EVICT_BEFORE_EXPIRY];
  if (text === undefined) return undefined;
  const seconds = attempt(() => parseDuration(text));
  return seconds instanceof SignerError ? undefined : seconds * 1000;
}
