// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';
import type { Connection } from '#kube/client/connection.ts';
import type { ConformanceProfile } from '../profile.ts';
import type { Clock, Delay, Random } from '#base/ports.ts';
import type { CreatedObjects } from './created-objects.ts';
import type { Permissions } from './permissions.ts';

/** One run against one signer, with the permissions of one user. */
export interface Run {
  readonly client: Client;
  readonly connection: Connection;
  /** Returns a client as another user, if this one may impersonate them. */
  readonly clientAs: (user: string, groups: readonly string[]) => Client;
  /** Returns a client with other credentials, such as a leaf. */
  readonly clientWith: (connection: Connection) => Client;
  readonly signerName: string;
  readonly profile: ConformanceProfile;
  /** PEM of the CAs that verify leaves, and their origin. Absent: ClusterTrustBundles. */
  readonly anchors?: { readonly pem: string; readonly from: string } | undefined;
  /** A part of every name in the run: DNS label characters. */
  readonly id: string;
  /** The namespace of the objects. It must exist. */
  readonly namespace: string;
  readonly serviceAccount: string;
  /** The image of the pods that the runner creates. It must not end by itself. */
  readonly image: string;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  /** Aborted by Ctrl-C. Everything ends, and created objects are removed. */
  readonly signal: AbortSignal;
  /** The milliseconds that the runner waits for an answer. */
  readonly timeoutMs: number;
  /** The least milliseconds of observation for objects that the signer must leave alone. */
  readonly quietMs: number;
  readonly permissions: Permissions;
  readonly created: CreatedObjects;
  /** Reports the progress. */
  readonly progress: (line: string) => void;
}

/** The interval at which memory is checked for an answer from a watch. */
const MEMORY_POLL_MS = 25;

/** Waits until `test` is true. @returns whether it was in time */
export async function until(run: Run, test: () => boolean, timeoutMs: number): Promise<boolean> {
  const end = run.clock() + timeoutMs;
  while (!test()) {
    if (run.clock() >= end) return false;
    await run.delay(MEMORY_POLL_MS, run.signal);
  }
  return true;
}

/** Returns `conformance-<run>.example.com/<path>`: a signer name that only this run uses. */
export function runSignerName(run: Run, path: string): string {
  return `conformance-${run.id}.example.com/${path}`;
}
