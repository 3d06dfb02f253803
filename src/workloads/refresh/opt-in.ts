// SPDX-License-Identifier: Apache-2.0
/**
 * Opt-in to restarts: the namespace by a label, the workload by an annotation. Neither alone is
 * enough.
 */
import { parseDuration } from '#api/object/duration.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { parseWindow, type RefreshWindow } from './window.ts';
import * as messages from './messages.ts';

/** The annotation of a workload, and the label of a namespace. */
export const REFRESH = 'countersign.dev/refresh';

/** The value of the label of a namespace. */
export const NAMESPACE_OPTED_IN = 'enabled';

/** The annotation of a workload with its own window. */
const REFRESH_WINDOW = 'countersign.dev/refresh-window';

/** The annotation of a workload that has its pods evicted, so that its template stays as it is. */
const REFRESH_BY = 'countersign.dev/refresh-by';

/**
 * The way of a restart:
 * - `rollout`: by an annotation of the pod template
 * - `eviction`: pod by pod, each once the others are ready. Nothing of the workload changes.
 */
export type RestartWay = 'rollout' | 'eviction';

const WAYS: readonly RestartWay[] = ['rollout', 'eviction'];

/**
 * The annotation of a pod or pod template: how long before its credential expires it is evicted.
 */
const EVICT_BEFORE_EXPIRY = 'countersign.dev/evict-before-expiry';

/**
 * Restarts that a workload requests:
 * - `secrets`: when the certificate of a Secret that it uses has changed
 * - `restart`: the same for volumes that the kubelet rewrites, because it cannot read files again
 */
export type RestartMode = 'secrets' | 'restart';

/** Result of reading the annotations of a workload. */
export type OptIn =
  | { readonly kind: 'out' }
  | {
      readonly kind: 'in';
      readonly mode: RestartMode;
      readonly way: RestartWay;
      readonly window: RefreshWindow | undefined;
    }
  | { readonly kind: 'invalid'; readonly message: string };

const MODES: readonly RestartMode[] = ['secrets', 'restart'];

/** Values of the annotation of a workload. */
export const REFRESH_MODES: readonly string[] = [...MODES, 'off'];

/** An object of which only the annotations are read. */
interface WithAnnotations {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
}

/** Reads the annotations of a workload. Without them, or with `off`, it is never restarted. */
export function optInOf({ metadata: { annotations = {} } }: WithAnnotations): OptIn {
  const mode = annotations[REFRESH];
  if (mode === undefined || mode === 'off') return { kind: 'out' };
  const known = MODES.find((each) => each === mode);
  if (known === undefined) {
    return { kind: 'invalid', message: messages.unknownMode(REFRESH, mode) };
  }
  const by = annotations[REFRESH_BY] ?? 'rollout';
  const way = WAYS.find((each) => each === by);
  if (way === undefined) return { kind: 'invalid', message: messages.unknownWay(REFRESH_BY, by) };
  const window = annotations[REFRESH_WINDOW];
  const read = window === undefined ? undefined : attempt(() => parseWindow(window));
  if (read instanceof SignerError) {
    return { kind: 'invalid', message: messages.invalidWindow(REFRESH_WINDOW, read.message) };
  }
  return { kind: 'in', mode: known, way, window: read };
}

/** Reports whether the namespace's label opts in. */
export function isNamespaceOptedIn(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[REFRESH] === NAMESPACE_OPTED_IN;
}

/**
 * Returns the milliseconds before the expiry of its credential, or undefined if the annotation is
 * absent or invalid.
 */
export function evictionLeadOf({ metadata }: WithAnnotations): number | undefined {
  const text = metadata.annotations?.[EVICT_BEFORE_EXPIRY];
  if (text === undefined) return undefined;
  const seconds = attempt(() => parseDuration(text));
  return seconds instanceof SignerError ? undefined : seconds * 1000;
}

/** Returns the problem of the annotation of a pod or pod template, or undefined. */
export function evictionProblem(annotations: Readonly<Record<string, string>>): string | undefined {
  const text = annotations[EVICT_BEFORE_EXPIRY];
  if (text === undefined) return undefined;
  const seconds = attempt(() => parseDuration(text));
  return seconds instanceof SignerError
    ? `annotation ${EVICT_BEFORE_EXPIRY}: ${seconds.message}`
    : undefined;
}
