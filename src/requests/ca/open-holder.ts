// SPDX-License-Identifier: Apache-2.0
/** The key holder of a component, by its flag. */
import type { OpenAuthority } from '#ca/custody/contract.ts';
import { openWithHolder } from '#ca/custody/held.ts';
import { createKeyHolder, type HolderObserver, type KeyHolder } from '#ca/custody/holder-client.ts';
import type { SeriesRecorder } from '#component/metric.ts';
import type { Host } from '#component/host.ts';
import type { Log } from '#base/ports.ts';
import type { KeyHolderFlags } from './flags.ts';
import { HOLDER_SERIES } from './metrics.ts';
import * as messages from './messages.ts';

/** The function that opens CAs, and the holder of keys that are not in Secrets. */
export interface OpenedHolder {
  readonly open: OpenAuthority;
  readonly holder: KeyHolder | undefined;
}

/** Opens the key holder that the flag names. Without the flag, every key must be in a Secret. */
export function openHolder(
  { flags, monotonic, delay }: Pick<Host<KeyHolderFlags>, 'flags' | 'monotonic' | 'delay'>,
  log: Log,
  metrics: SeriesRecorder,
): OpenedHolder {
  const { keyHolder: socket } = flags;
  if (socket === undefined) return { open: openWithHolder(undefined), holder: undefined };
  const series = metrics.of(HOLDER_SERIES);
  const observer: HolderObserver = {
    answers: (fault) => {
      series.up.set({ socket }, fault === undefined ? 1 : 0);
      if (fault === undefined) log.info({ socket }, messages.HOLDER_ANSWERS);
      else log.warn({ socket, error: fault }, messages.HOLDER_AWAY);
    },
    signed: (seconds) => {
      series.signatures.inc({ socket });
      series.duration.observe({ socket }, seconds);
    },
    refused: (reason) => {
      series.refusals.inc({ socket, reason });
    },
  };
  const holder = createKeyHolder({ socket, monotonic, delay, observer });
  return { open: openWithHolder(holder), holder };
}
