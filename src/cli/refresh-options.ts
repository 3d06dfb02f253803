// SPDX-License-Identifier: Apache-2.0
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { RestartLimits } from '../refreshing/restart-slots.ts';
import type { DueTimes } from '../refreshing/standing.ts';
import { parseWindow, type RefreshWindow } from '../refreshing/window.ts';
import type { ComponentOptions } from '../app/component-options.ts';
import type { FactsOptions } from '../app/ledger/options.ts';
import { durationFlag, parsedFlag, positiveFlag } from '../app/flag-values.ts';

/** When and how many workloads are restarted: flags of `pod-refresher` and of `countersign refresh plan`. */
export interface RefreshOptions {
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

/** The flags of `pod-refresher`. */
export interface PodRefresherOptions extends ComponentOptions, RefreshOptions, FactsOptions {
  readonly secret: readonly string[];
}

/** Longer than cert-manager takes for the certificates of one application. */
const DEBOUNCE_SECONDS = 30;
/** Few at once: a certificate is renewed long before the one before ends. */
const CONCURRENT = 10;
const NAMESPACE_CONCURRENT = 2;
const PER_MINUTE = 60;
const NAMESPACE_PER_MINUTE = 6;
/** The default progressDeadlineSeconds of a Deployment. */
const ROLLOUT_TIMEOUT_SECONDS = 600;

/** Adds the flags of {@link RefreshOptions}. */
export function addRefreshOptions(command: Command): Command {
  const number = (flag: string, text: string, value: number): Option =>
    new Option(`${flag} <count>`, text).argParser(positiveFlag).default(value);
  return command
    .addOption(
      new Option(
        '--debounce <duration>',
        'how long the certificates of a workload must be unchanged: several make one restart',
      )
        .argParser(durationFlag)
        .default(DEBOUNCE_SECONDS, `${DEBOUNCE_SECONDS}s`),
    )
    .addOption(
      new Option(
        '--window <spans>',
        'when restarts may begin, in UTC, such as "Mon-Fri 22:00-06:00" (default: always); never later than a third of the life that the certificate before had left',
      ).argParser((text: string) => parsedFlag(text, parseWindow)),
    )
    .addOption(number('--concurrent', 'most rollouts in progress', CONCURRENT))
    .addOption(
      number(
        '--namespace-concurrent',
        'most rollouts in progress in one namespace',
        NAMESPACE_CONCURRENT,
      ),
    )
    .addOption(number('--restarts-per-minute', 'most restarts begun in a minute', PER_MINUTE))
    .addOption(
      number(
        '--namespace-restarts-per-minute',
        'most restarts begun in a minute in one namespace',
        NAMESPACE_PER_MINUTE,
      ),
    )
    .addOption(
      new Option('--rollout-timeout <duration>', 'how long a rollout is waited for')
        .argParser(durationFlag)
        .default(ROLLOUT_TIMEOUT_SECONDS, '10m'),
    );
}

/** Adds `--secret`. */
export function addRefreshSecretOption(command: Command): Command {
  return command.addOption(
    new Option(
      '--secret <namespace>/<name>',
      'Secret to read where no CertificateRequest is left that tells its certificate (repeatable)',
    )
      .argParser((text: string, before: readonly string[]) => {
        if (!/^[a-z0-9-]+\/[a-z0-9.-]+$/.test(text)) {
          throw new InvalidArgumentError('write <namespace>/<name>');
        }
        return [...before, text];
      })
      .default([]),
  );
}

/** The limits and times that the flags say. */
export function refreshSettings(options: RefreshOptions): DueTimes & {
  readonly limits: RestartLimits;
} {
  return {
    debounceMs: options.debounce * 1000,
    window: options.window,
    limits: {
      concurrent: options.concurrent,
      concurrentInNamespace: options.namespaceConcurrent,
      perMinute: options.restartsPerMinute,
      perMinuteInNamespace: options.namespaceRestartsPerMinute,
      rolloutTimeoutMs: options.rolloutTimeout * 1000,
    },
  };
}
