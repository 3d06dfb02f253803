// SPDX-License-Identifier: Apache-2.0
/**
 * Finds certificates of this installation's CAs that the ledger does not know, which indicate a
 * stolen key.
 */
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { messageOf } from '#base/errors.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createWakeup } from '#kube/wait/wakeup.ts';
import { watchSigners } from '#component/signers/signers.ts';
import { Look, type LookInit } from './look.ts';
import type { SeenObject } from './seen.ts';
import { createMonitorWatches } from './watches.ts';
import * as messages from '../messages.ts';

/** Dependencies of the monitor. */
export interface MonitorInit extends LookInit {
  readonly podCertificateRequests: Resource | undefined;
  /** Secrets to inspect: `namespace/name`. */
  readonly secrets: readonly string[];
  /** Reports whether this replica leads. Only the leader keeps certificates and compares them. */
  readonly leads: () => boolean;
}

/** The running monitor. */
export interface Monitor {
  /** Returns the watched signers, or undefined before all are known. */
  readonly signers: () => readonly ClusterSigner[] | undefined;
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Longest interval between comparisons, and between reports of findings. */
const LOOK_MILLISECONDS = 5_000;

/**
 * Returns a monitor, which watches certificates, compares them with records, and reports findings.
 */
export function createMonitor(init: MonitorInit): Monitor {
  const { component, leads } = init;
  /** True if objects of the watches have certificates that the comparison has not seen. */
  let behind = false;
  const wakeup = createWakeup(component.delay);
  const signers = watchSigners(component);
  const pass = new Look(init, () => signers.known());
  const watches = createMonitorWatches({
    ...init,
    // The next periodic comparison is soon enough, because a record may arrive minutes after its
    // certificate.
    onSeen: (object) => {
      if (!leads() || !pass.see(object)) behind = true;
    },
  });
  signers.onChange(() => {
    wakeup.wake();
  });
  let fault: string | undefined;
  /** Shows all objects of the watches to the comparison, with comparisons in between for room. */
  async function catchUp(): Promise<void> {
    behind = false;
    let hasRoom = true;
    const show = async (object: SeenObject): Promise<boolean> => {
      if (pass.see(object)) return true;
      if (!hasRoom) return false;
      await pass.look();
      hasRoom = !pass.isFull;
      return pass.see(object);
    };
    try {
      for (const object of watches.all()) if (!(await show(object))) behind = true;
    } catch (error) {
      behind = true;
      throw error;
    }
  }
  async function look(): Promise<void> {
    try {
      const isNew = await pass.refresh();
      if (isNew || (behind && !pass.isFull)) await catchUp();
      await pass.look();
      fault = undefined;
    } catch (error) {
      const message = messageOf(error);
      if (fault !== message) component.log.warn({ error: message }, messages.CANNOT_COMPARE);
      fault = message;
    }
  }
  return {
    signers: () => (signers.settled ? signers.known() : undefined),
    warnings: () => [
      ...watches.warnings(),
      ...(fault === undefined ? [] : [messages.notCompared(fault)]),
      ...pass.warnings(),
    ],
    run: async (signal) => {
      const watching = [signers.run(signal), watches.run(signal)];
      while (!signal.aborted) {
        if (leads()) await look();
        else {
          // A standby would keep the certificates of all deleted objects.
          pass.forget();
          fault = undefined;
          behind = true;
        }
        await wakeup.wait(LOOK_MILLISECONDS, signal);
      }
      await Promise.all(watching);
    },
  };
}
