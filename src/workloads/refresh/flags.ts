// SPDX-License-Identifier: Apache-2.0
/**
 * Flags of `pod-refresher` and of `countersign refresh plan` that limit the time and number of
 * restarts.
 */
import { parseDuration } from '#api/object/duration.ts';
import { parseCount, type Flag } from '#component/flag.ts';
import type { RestartLimits } from './restart-slots.ts';
import type { DueTimes } from './restart-state.ts';
import { parseWindow, type RefreshWindow } from './window.ts';

/** Flags that both take. */
export interface RefreshFlags {
  /** Seconds. */
  readonly debounce: number;
  readonly window?: RefreshWindow;
  readonly concurrent: number;
  readonly namespaceConcurrent: number;
  readonly restartsPerMinute: number;
  readonly namespaceRestartsPerMinute: number;
  /** Seconds. */
  readonly rolloutTimeout: number;
}

/** Exceeds the time that cert-manager takes for the certificates of one application. */
const DEBOUNCE_SECONDS = 30;
/** Few at once are enough: a certificate is renewed long before the previous one expires. */
const CONCURRENT = 10;
const NAMESPACE_CONCURRENT = 2;
const PER_MINUTE = 60;
const NAMESPACE_PER_MINUTE = 6;
/** The default progressDeadlineSeconds of a Deployment. */
const ROLLOUT_TIMEOUT_SECONDS = 600;

/** The flags of a component that is started without them. */
export const DEFAULT_REFRESH_FLAGS: RefreshFlags = {
  debounce: DEBOUNCE_SECONDS,
  concurrent: CONCURRENT,
  namespaceConcurrent: NAMESPACE_CONCURRENT,
  restartsPerMinute: PER_MINUTE,
  namespaceRestartsPerMinute: NAMESPACE_PER_MINUTE,
  rolloutTimeout: ROLLOUT_TIMEOUT_SECONDS,
};

/** {@link RefreshFlags} */
export const REFRESH_FLAGS: readonly Flag[] = [
  {
    flag: '--debounce <duration>',
    help: 'how long the certificates of a workload must be unchanged before a restart',
    parse: parseDuration,
    default: DEBOUNCE_SECONDS,
    shown: `${DEBOUNCE_SECONDS}s`,
  },
  {
    flag: '--window <spans>',
    help: 'when restarts may begin, in UTC, such as "Mon-Fri 22:00-06:00" (default: always); never later than a third of the remaining validity of the previous certificate',
    parse: parseWindow,
  },
  {
    flag: '--concurrent <count>',
    help: 'maximum rollouts in progress',
    parse: parseCount,
    default: CONCURRENT,
  },
  {
    flag: '--namespace-concurrent <count>',
    help: 'maximum rollouts in progress in one namespace',
    parse: parseCount,
    default: NAMESPACE_CONCURRENT,
  },
  {
    flag: '--restarts-per-minute <count>',
    help: 'maximum restarts begun in a minute',
    parse: parseCount,
    default: PER_MINUTE,
  },
  {
    flag: '--namespace-restarts-per-minute <count>',
    help: 'maximum restarts begun in a minute in one namespace',
    parse: parseCount,
    default: NAMESPACE_PER_MINUTE,
  },
  {
    flag: '--rollout-timeout <duration>',
    help: 'how long to wait for a rollout',
    parse: parseDuration,
    default: ROLLOUT_TIMEOUT_SECONDS,
    shown: '10m',
  },
];

/** Returns the limits and times from the flags. */
export function refreshSettings(flags: RefreshFlags): DueTimes & {
  readonly limits: RestartLimits;
} {
  return {
    debounceMs: flags.debounce * 1000,
    window: flags.window,
    limits: {
      concurrent: flags.concurrent,
      concurrentInNamespace: flags.namespaceConcurrent,
      perMinute: flags.restartsPerMinute,
      perMinuteInNamespace: flags.namespaceRestartsPerMinute,
      rolloutTimeoutMs: flags.rolloutTimeout * 1000,
    },
  };
}
