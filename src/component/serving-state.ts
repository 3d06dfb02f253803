// SPDX-License-Identifier: Apache-2.0
import { keyOf } from '#api/object/object.ts';
import {
  SERVING_REPORT,
  signersDigest,
  writeReport,
  type ServingFault,
} from '#api/serving/report.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import type { Clock } from '#base/ports.ts';

/**
 * Receives a controller's reports that it cannot serve a signer. `authority` writes them into the
 * signer's status.
 */
export interface ServingReporter {
  /**
   * Reports a fault of one signer in its present generation, found at work. It replaces the one
   * with the same reason and expression. It lapses ten minutes after the last report.
   */
  readonly report: (signer: SignerObject, fault: FoundFault) => void;
  /** Retracts a fault without an expression before it lapses. */
  readonly retract: (signer: SignerObject, reason: string) => void;
}

/** A fault of one signer. */
export type FoundFault = Pick<ServingFault, 'reason' | 'message' | 'stops' | 'expression'>;

/** The report of a process about itself, with each renewal of its Lease. */
export interface ServingState extends ServingReporter {
  /** Records that the permissions were checked for these signers. */
  readonly checked: (signers: readonly SignerObject[], faults: readonly ServingFault[]) => void;
  /** Returns the annotations of its Lease. There are none before the first check. */
  readonly annotations: () => Readonly<Record<string, string>>;
  /** Calls `listener` when the report may have changed. */
  readonly onChange: (listener: () => void) => void;
}

/**
 * The limit of faults found at work that one process reports. Users of namespaces cause them. If
 * there is no room, the namespace with the most faults loses its oldest.
 */
const MAX_FOUND = 64;
const FOUND_MS = 10 * 60_000;

interface FaultEntry {
  readonly fault: ServingFault;
  /** The namespace of the signer, or '' for ClusterSigners. */
  readonly flow: string;
  readonly at: number;
}

type FoundFaults = Map<string, FaultEntry>;

function put(found: FoundFaults, key: string, fault: FaultEntry): void {
  found.delete(key);
  found.set(key, fault);
  if (found.size <= MAX_FOUND) return;
  const [most = []] = [...byFlow(found)].sort((a, b) => b.length - a.length);
  const [oldest] = most;
  if (oldest !== undefined) found.delete(oldest);
}

/** Returns the keys of each flow, the oldest first. */
function byFlow(found: FoundFaults): readonly (readonly string[])[] {
  const flows = new Map<string, string[]>();
  for (const [key, { flow }] of found) flows.set(flow, [...(flows.get(flow) ?? []), key]);
  return [...flows.values()];
}

/**
 * Returns faults in turns of their flows. If a report has no room, the flows with the most faults
 * lose some.
 */
function inTurn(found: FoundFaults): readonly ServingFault[] {
  const flows = byFlow(found);
  const longest = Math.max(0, ...flows.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) =>
    flows.flatMap((keys) => found.get(keys[turn] ?? '')?.fault ?? []),
  ).flat();
}

/**
 * Creates the report of this process in its Lease, without faults.
 *
 * @param init - `namespaced` is true if the process serves Signers, too. `faults` returns what else
 *   it reports about all signers.
 */
export function createServingState(init: {
  readonly clock: Clock;
  readonly namespaced: boolean;
  readonly faults?: () => readonly ServingFault[];
}): ServingState {
  const { clock, namespaced, faults: others = () => [] } = init;
  const found: FoundFaults = new Map();
  const listeners: (() => void)[] = [];
  let known: { readonly digest: string; readonly faults: readonly ServingFault[] } | undefined;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const present = (): readonly ServingFault[] => {
    for (const [key, { at }] of found) if (Math.abs(clock() - at) >= FOUND_MS) found.delete(key);
    return inTurn(found);
  };
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
      put(found, key, { fault: whole, flow: metadata.namespace ?? '', at: clock() });
      if (JSON.stringify(before?.fault) !== JSON.stringify(whole)) changed();
    },
    retract: ({ metadata }, reason) => {
      if (found.delete(JSON.stringify([keyOf(metadata), reason, undefined]))) changed();
    },
    annotations: () => {
      if (known === undefined) return {};
      const faults = [...known.faults, ...others(), ...present()];
      return { [SERVING_REPORT]: writeReport({ checked: known.digest, namespaced, faults }) };
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
  };
}
