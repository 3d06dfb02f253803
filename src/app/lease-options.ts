// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  DEFAULT_LEASE_SECONDS,
  MAX_LEASE_SECONDS,
  MIN_LEASE_SECONDS,
} from '../kube/lease/lease.ts';
import { durationFlag } from './flag-values.ts';

/** The flags about Leases. */
export interface LeaseOptions {
  /** False with --no-leases. */
  readonly leases: boolean;
  readonly leaseNamespace?: string;
  /** Seconds. */
  readonly leaseDuration: number;
}

export function addLeaseOptions(command: Command): Command {
  return command
    .option(
      '--lease-namespace <name>',
      'namespace of the Leases by which replicas share the work (default: the pod’s own; outside of a pod none are taken)',
    )
    .option('--no-leases', 'take no Leases: this process does all the work')
    .addOption(
      new Option(
        '--lease-duration <duration>',
        'how long the Lease of a replica that is gone keeps the others waiting',
      )
        .argParser(leaseSecondsFlag)
        .default(DEFAULT_LEASE_SECONDS, `${DEFAULT_LEASE_SECONDS}s`),
    );
}

/** @throws InvalidArgumentError */
function leaseSecondsFlag(text: string): number {
  const seconds = durationFlag(text);
  if (seconds >= MIN_LEASE_SECONDS && seconds <= MAX_LEASE_SECONDS) return seconds;
  throw new InvalidArgumentError(`write ${MIN_LEASE_SECONDS}s to ${MAX_LEASE_SECONDS / 60}m`);
}

const OWN_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** Where Leases are taken; undefined: nowhere. @param inCluster - the process runs in a pod */
export function leaseNamespaceOf(
  options: LeaseOptions,
  inCluster: boolean,
  read: (file: string) => string = (file) => readFileSync(file, 'utf8'),
): string | undefined {
  if (!options.leases) return undefined;
  if (options.leaseNamespace !== undefined || !inCluster) return options.leaseNamespace;
  try {
    return read(OWN_NAMESPACE).trim();
  } catch {
    // A pod without a ServiceAccount's mount has a kubeconfig, and its own ideas.
    return undefined;
  }
}
