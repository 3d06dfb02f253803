// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { buildSpiffeJudge } from './build.ts';

/** A bundle as go-spiffe read it. */
export interface SeenBundle {
  readonly sequence: number;
  readonly refreshHint: number;
  /** SHA-256 fingerprints: hex. */
  readonly authorities: readonly string[];
}

/** A `federation.WatchBundle` of go-spiffe at work. */
export interface BundleWatch {
  readonly seen: readonly SeenBundle[];
  /** What it said of looks that failed. */
  readonly errors: readonly string[];
  stop(): Promise<void>;
}

/**
 * Starts one for an endpoint of `https_spiffe`, which it verifies by the bundle that it saw last.
 *
 * @param bundleFile - the first bundle, as SPIFFE writes it
 */
export async function watchBundle(
  trustDomain: string,
  url: string,
  bundleFile: string,
  endpointId: string,
): Promise<BundleWatch> {
  const program = await buildSpiffeJudge();
  const child = spawn(program, ['watch', trustDomain, url, bundleFile, endpointId], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const seen: SeenBundle[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    seen.push(JSON.parse(line) as SeenBundle);
  });
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  const stop = async (): Promise<void> => {
    child.kill();
    await exited;
  };
  return { seen, errors, stop };
}
