// SPDX-License-Identifier: Apache-2.0
import type { Controller } from '#component/contract.ts';
import { MAX_CLOCK_OFFSET_MS, offsetText } from '#component/server-time.ts';

/**
 * Offset from which /readyz warns: half of the default of `profile.backdate`. Certificates carry
 * the API server's time, so this installation is unaffected. A verifier with this process's time
 * source may find them not yet valid.
 */
const NOTED_OFFSET_MS = 30_000;

export interface HealthInit {
  /** Returns by how many milliseconds this clock is ahead of the API server's. */
  readonly clockOffset: () => number;
  /** Returns undefined until the API server has answered. */
  readonly controller: () => Controller | undefined;
  readonly permissions: Pick<Controller, 'notReady'>;
  readonly admission: { readonly warnings: () => readonly string[] };
  readonly replica: { readonly warnings: () => readonly string[] };
  readonly recording: { readonly warnings: () => readonly string[] };
}

/** State for /readyz. */
export interface Health {
  /** Returns the reasons why the component is not ready, if any. */
  readonly notReady: () => readonly string[];
  /** Returns problems that do not change the status 200 of /readyz. */
  readonly warnings: () => readonly string[];
}

/**
 * Combines the reports of the controller, its permissions, the admission policies, the clock and
 * the Leases.
 */
export function createHealth(init: HealthInit): Health {
  return {
    notReady: () => {
      const controller = init.controller();
      return controller === undefined
        ? ['the API server has not answered yet']
        : [...init.permissions.notReady(), ...controller.notReady()];
    },
    warnings: () => [
      ...clockWarnings(init.clockOffset()),
      ...(init.controller()?.warnings?.() ?? []),
      ...init.admission.warnings(),
      ...init.replica.warnings(),
      ...init.recording.warnings(),
    ],
  };
}

function clockWarnings(offset: number): readonly string[] {
  if (Math.abs(offset) < NOTED_OFFSET_MS) return [];
  const effect =
    Math.abs(offset) > MAX_CLOCK_OFFSET_MS
      ? 'signing is paused; correct the wrong clock'
      : 'certificates carry the time of the API server';
  return [`${offsetText(offset)}; ${effect}`];
}
