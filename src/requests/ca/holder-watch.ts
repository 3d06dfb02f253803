// SPDX-License-Identifier: Apache-2.0
/** Watches whether the key holder of a component answers, and has the keys of its signers. */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  HOLDER_KEY_WRONG,
  HOLDER_TOKEN_UNAVAILABLE,
  HOLDER_UNAVAILABLE,
} from '#api/serving/report.ts';
import { SignerError, attempt, messageOf } from '#base/errors.ts';
import { requireHeldKey } from '#ca/custody/held.ts';
import type { Authority } from '#ca/custody/contract.ts';
import type { KeyHolder } from '#ca/custody/holder-client.ts';
import type { Component } from '#component/contract.ts';
import type { TableSeries } from '#component/metric.ts';
import { HOLDER_SERIES } from './metrics.ts';
import * as messages from './messages.ts';

/** The pause between two looks at a holder. Reports of faults lapse after ten minutes. */
const HOLDER_LOOK_MS = 30_000;

/** Watches a holder for the signers that are served. */
export interface HolderWatch {
  readonly serve: (signers: readonly ClusterSigner[]) => void;
  /** Returns why the holder signs nothing for a signer. Undefined if it does, or is not known. */
  readonly faultOf: (signer: ClusterSigner) => string | undefined;
  readonly stop: () => void;
}

/** Dependencies of watching a holder. */
export interface HolderWatchInit {
  readonly component: Pick<Component, 'name' | 'serving' | 'metrics' | 'delay' | 'log'>;
  readonly holder: KeyHolder;
  /** Returns the CA of a signer. Throws if it is unusable, whatever its holder does. */
  readonly authorityOf: (signer: ClusterSigner) => Authority;
}

/** A fault of the holder for one signer. */
interface HolderFault {
  readonly reason: string;
  readonly message: string;
}

interface WatchState extends HolderWatchInit {
  readonly series: TableSeries<typeof HOLDER_SERIES>;
  readonly stopped: AbortController;
  readonly faults: Map<string, HolderFault>;
  served: readonly ClusterSigner[];
  isRunning: boolean;
  /** Ends the pause before the next look. */
  wake: AbortController;
}

/** Creates a watch. It looks at the holder while signers with a key in it are served. */
export function watchHolder(init: HolderWatchInit): HolderWatch {
  const state: WatchState = {
    ...init,
    series: init.component.metrics.of(HOLDER_SERIES),
    stopped: new AbortController(),
    faults: new Map(),
    served: [],
    isRunning: false,
    wake: new AbortController(),
  };
  const look = (): void => {
    state.wake.abort();
  };
  init.holder.onChange(look);
  return {
    serve: (signers) => {
      state.served = signers.filter(({ spec }) => spec.authority.keyHolder !== undefined);
      if (state.served.length > 0 && !state.isRunning) void run(state);
      look();
    },
    faultOf: ({ metadata }) => state.faults.get(metadata.name)?.message,
    stop: () => {
      state.stopped.abort();
      look();
    },
  };
}

async function run(state: WatchState): Promise<void> {
  state.isRunning = true;
  while (!state.stopped.signal.aborted && state.served.length > 0) {
    state.wake = new AbortController();
    const { signal } = state.wake;
    await lookOnce(state);
    await state.component.delay(HOLDER_LOOK_MS, signal).catch(() => undefined);
  }
  state.isRunning = false;
}

async function lookOnce(state: WatchState): Promise<void> {
  const away = await state.holder.probe();
  for (const signer of state.served) {
    if (state.stopped.signal.aborted) return;
    note(state, signer, away === undefined ? await keyFault(state, signer) : awayFault(away));
  }
}

function awayFault(message: string): HolderFault {
  return { reason: HOLDER_UNAVAILABLE, message };
}

/**
 * Returns the fault of a signer's key in a holder that answers. During a replacement that is the
 * key of the previous CA, which signs, and not yet the key that the spec names.
 */
async function keyFault(
  state: WatchState,
  signer: ClusterSigner,
): Promise<HolderFault | undefined> {
  const { spec } = signer;
  // An unusable CA is a fault of its own, which authority reports.
  const opened = attempt(() => state.authorityOf(signer));
  const authority = opened instanceof SignerError ? undefined : opened;
  const heldKey = authority?.heldKey ?? {
    name: spec.authority.keyHolder?.key ?? '',
    signerName: spec.signerName,
  };
  try {
    const held = await state.holder.describe(heldKey.name);
    if (held.notAfter !== undefined) {
      const seconds = held.notAfter / 1000;
      state.series.keyEnd.set({ signer: spec.signerName }, seconds);
    }
    if (authority?.heldKey !== undefined) requireHeldKey(held, authority.facts, heldKey);
    return undefined;
  } catch (error) {
    return { reason: reasonOf(error), message: messageOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof SignerError)) return HOLDER_UNAVAILABLE;
  if (error.code === 'KEY_HOLDER_TOKEN_UNAVAILABLE') return HOLDER_TOKEN_UNAVAILABLE;
  return error.code === 'AUTHORITY_INVALID' || error.code === 'KEY_HOLDER_REFUSED'
    ? HOLDER_KEY_WRONG
    : HOLDER_UNAVAILABLE;
}

/** Reports a fault, or that there is none any more. Each look repeats the report, which lapses. */
function note(state: WatchState, signer: ClusterSigner, fault: HolderFault | undefined): void {
  const { serving, log, name } = state.component;
  const before = state.faults.get(signer.metadata.name);
  state.series.keyUsable.set({ signer: signer.spec.signerName }, fault === undefined ? 1 : 0);
  if (before !== undefined && before.reason !== fault?.reason) {
    serving.retract(signer, before.reason);
  }
  if (fault === undefined) {
    state.faults.delete(signer.metadata.name);
    return;
  }
  state.faults.set(signer.metadata.name, fault);
  const message = messages.holderFault(fault.message, name);
  serving.report(signer, { reason: fault.reason, message, stops: true });
  if (before?.message === fault.message) return;
  log.warn({ signer: signer.spec.signerName, error: fault.message }, messages.HOLDER_UNUSABLE);
}
