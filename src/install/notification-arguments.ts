// SPDX-License-Identifier: Apache-2.0
/** Arguments of `notifier` for its targets and their events. */
import { NOTIFIER_DIRECTORY } from '#notify/notifier/flags.ts';

/** Targets of `notifier` and their events, as in the values. */
export interface Notifications {
  readonly targets: readonly {
    readonly name: string;
    readonly url: string;
    readonly events?: readonly string[];
    readonly handshake?: string;
  }[];
  readonly networks: readonly string[];
  readonly ownCa: boolean;
  readonly source: string;
  readonly expiring: string;
  readonly rate: number;
}

/**
 * Returns the arguments for these targets. The chart's helper `countersign.notifierArgs` returns
 * the same.
 */
export function notificationArguments(given: Notifications): readonly string[] {
  const { targets, networks, ownCa, source, expiring, rate } = given;
  return [
    ...targets.flatMap(({ name, url, events = [], handshake = '' }) => [
      `--target=${name}=${url}`,
      ...(events.length === 0 ? [] : [`--target-events=${name}=${events.join(',')}`]),
      ...(handshake === '' ? [] : [`--handshake=${name}=${handshake}`]),
    ]),
    ...networks.map((each) => `--target-network=${each}`),
    ...(ownCa ? [`--target-ca=${NOTIFIER_DIRECTORY}/ca.crt`] : []),
    ...(source === '' ? [] : [`--source=${source}`]),
    `--expiring=${expiring}`,
    `--target-rate=${rate}`,
  ];
}
