// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { readCaBundleTarget, type CaBundleTarget } from '../api/object/ca-bundle-target.ts';
import type { ComponentOptions } from '../app/component-options.ts';
import { parsedFlag } from '../app/flag-values.ts';

/** The flags of `trust-distributor`. */
export interface TrustDistributorOptions extends ComponentOptions {
  readonly caBundleOf: readonly CaBundleTarget[];
}

/** Adds the flags of {@link TrustDistributorOptions}. */
export function addTrustOptions(command: Command): Command {
  return command.addOption(
    new Option(
      '--ca-bundle-of <resource>/<name>',
      'object into whose caBundle anchors are written once its owner annotated it, such as apiservices/v1beta1.metrics.k8s.io (repeatable)',
    )
      .argParser((text: string, before: readonly CaBundleTarget[]) => [
        ...before,
        parsedFlag(text, readCaBundleTarget),
      ])
      .default([]),
  );
}
