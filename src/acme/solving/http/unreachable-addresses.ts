// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import { formatIp } from '#base/ip.ts';
import type { Clock } from '#base/ports.ts';

/** Limit on remembered addresses, which requesters choose. */
const MAX_UNREACHABLE = 1_000;
/** Time for which an address that does not decide is not called again. */
const REMEMBERED_MS = 60_000;

/**
 * Addresses that no connection could be made to lately. A call of an address without a route takes
 * seconds, and a check is repeated until it passes.
 */
export interface UnreachableAddresses {
  /** Returns why no connection was made, or undefined if nothing is known. */
  readonly problemOf: (address: Uint8Array, port: number) => string | undefined;
  /** @param problem - why no connection was made, or undefined if one was */
  readonly note: (address: Uint8Array, port: number, problem: string | undefined) => void;
}

export function createUnreachableAddresses(now: Clock): UnreachableAddresses {
  const known = new BoundedMap<string, { readonly problem: string; readonly until: number }>(
    MAX_UNREACHABLE,
  );
  const keyOf = (address: Uint8Array, port: number): string => `${formatIp(address) ?? ''} ${port}`;
  return {
    problemOf: (address, port) => {
      const found = known.get(keyOf(address, port));
      return found !== undefined && now() < found.until ? found.problem : undefined;
    },
    note: (address, port, problem) => {
      const key = keyOf(address, port);
      if (problem === undefined) known.delete(key);
      else known.set(key, { problem, until: now() + REMEMBERED_MS });
    },
  };
}
