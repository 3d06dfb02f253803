// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../kube/client/client.ts';
import type { Connection } from '../kube/client/connection.ts';
import type { ConformanceProfile } from '../conformance/profile.ts';
import type { Clock, Delay, Random } from '../ports.ts';
import type { CreatedObjects } from './created-objects.ts';
import type { Permissions } from './permissions.ts';

/** One run against one signer, with the permissions of one user. */
export interface Run {
  readonly client: Client;
  readonly connection: Connection;
  /** A client as another user, where this one may impersonate them. */
  readonly clientAs: (user: string, groups: readonly string[]) => Client;
  /** A client with credentials of its own: who holds a leaf. */
  readonly clientWith: (connection: Connection) => Client;
  readonly signerName: string;
  readonly profile: ConformanceProfile;
  /** PEM of the CAs to verify with, and where they are from; absent: ClusterTrustBundles. */
  readonly anchors?: { readonly pem: string; readonly from: string } | undefined;
  /** In every name that the runner gives: DNS label characters. */
  readonly id: string;
  /** Where namespaced objects go. It must exist. */
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Of the pods that the runner makes; any that does not end. */
  readonly image: string;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  /** Aborted by Ctrl-C: everything ends, and what was made is removed. */
  readonly signal: AbortSignal;
  /** Milliseconds that an answer is waited for. */
  readonly timeoutMs: number;
  /** Milliseconds that what must be left alone is looked at, at the least. */
  readonly quietMs: number;
  readonly permissions: Permissions;
  readonly created: CreatedObjects;
  /** Says what is going on. */
  readonly progress: (line: string) => void;
}

/** How often memory is looked at for an answer that a watch brings. */
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

/** `conformance-<run>.example.com/<path>`: a signer name that only this run uses. */
export function runSignerName(run: Run, path: string): string {
  return `conformance-${run.id}.example.com/${path}`;
}
