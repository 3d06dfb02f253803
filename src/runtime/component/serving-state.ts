// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import { keyOf } from '../../api/object/object.ts';
import {
  SERVING_REPORT,
  signersDigest,
  writeReport,
  type ServingFault,
} from '../../api/serving/report.ts';
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import type { Clock } from '../../ports.ts';

/** How a controller reports that it cannot serve a signer; `authority` writes it into the signer's status. */
export interface ServingReporter {
  /**
   * Reports a fault of one signer in its present generation, found at work. It replaces the one with the same reason
   * and expression, and lapses ten minutes after it was last reported.
   */
  readonly report: (signer: SignerObject, fault: FoundFault) => void;
}

/** A fault of one signer. */
export type FoundFault = Pick<ServingFault, 'reason' | 'message' | 'stops' | 'expression'>;

/** What a process reports about itself with each renewal of its Lease. */
export interface ServingState extends ServingReporter {
  /** The permissions were checked for these signers. */
  readonly checked: (signers: readonly SignerObject[], faults: readonly ServingFault[]) => void;
  /** The annotations of its Lease; none before the first check. */
  readonly annotations: () => Readonly<Record<string, string>>;
  /** Calls `listener` when the report may have changed. */
  readonly onChange: (listener: () => void) => void;
}

/** Faults found at work that one process reports; users of namespaces cause them. */
const MAX_FOUND = 64;
const FOUND_MS = 10 * 60_000;

interface Found {
  readonly fault: ServingFault;
  readonly at: number;
}

/** @param init - `namespaced`: whether the process serves Signers too */
export function createServingState(init: {
  readonly clock: Clock;
  readonly namespaced: boolean;
}): ServingState {
  const { clock, namespaced } = init;
  const found = new BoundedMap<string, Found>(MAX_FOUND);
  const keys = new Set<string>();
  const listeners: (() => void)[] = [];
  let known: { readonly digest: string; readonly faults: readonly ServingFault[] } | undefined;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const present = (): readonly ServingFault[] =>
    [...keys].flatMap((key) => {
      const each = found.get(key);
      if (each !== undefined && Math.abs(clock() - each.at) < FOUND_MS) return [each.fault];
      keys.delete(key);
      return [];
    });
  return {
    checked: (signers, faults) => {
      known = { digest: signersDigest(signers), faults };
      changed();
    },
    report: (signer, fault) => {
      const { metadata } = signer;
      const key = JSON.stringify([keyOf(metadata), fault.reason, fault.expression]);
      const before = found.get(key);
      const generation = metadata.generation ?? 0;
      const whole = { ...fault, signers: [keyOf(metadata)], generation };
      found.set(key, { fault: whole, at: clock() });
      keys.add(key);
      if (JSON.stringify(before?.fault) !== JSON.stringify(whole)) changed();
    },
    annotations: () => {
      if (known === undefined) return {};
      const faults = [...known.faults, ...present()];
      return { [SERVING_REPORT]: writeReport({ checked: known.digest, namespaced, faults }) };
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
  };
}
