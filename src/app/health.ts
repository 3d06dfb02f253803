// SPDX-License-Identifier: Apache-2.0
import type { Controller } from '../runtime/component/component.ts';
import { MAX_CLOCK_OFFSET_MS, offsetText } from '../runtime/component/server-time.ts';

/**
 * Half of what `profile.backdate` allows by default. Certificates carry the API server's time, so
 * nothing of ours fails; but a verifier with the same time source as ours may find them not yet valid.
 */
const NOTED_OFFSET_MS = 30_000;

export interface HealthInit {
  /** Milliseconds that our clock is ahead of the API server's. */
  readonly clockOffset: () => number;
  /** Undefined until the API server has answered. */
  readonly controller: () => Controller | undefined;
  readonly permissions: Pick<Controller, 'notReady'>;
  readonly admission: { readonly warnings: () => readonly string[] };
  readonly replica: { readonly warnings: () => readonly string[] };
  readonly recording: { readonly warnings: () => readonly string[] };
}

/** What /readyz shows. */
export interface Health {
  /** Why the component is not ready; empty if it is. */
  readonly notReady: () => readonly string[];
  /** Problems in spite of which /readyz answers 200. */
  readonly warnings: () => readonly string[];
}

/** Combines what the controller, its permissions, the admission policies, the clock and the Leases report. */
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
