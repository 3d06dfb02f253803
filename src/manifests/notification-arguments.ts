// SPDX-License-Identifier: Apache-2.0
/** How `notifier` is told whom it tells what. */

/** The secrets of the targets, by their names: the user makes this Secret. */
export const NOTIFIER_SECRET = 'countersign-notifier-targets';
export const NOTIFIER_DIRECTORY = '/run/countersign/notifier';

/** Whom `notifier` tells what, as values say it. */
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

/** The arguments for that; the chart's helper `countersign.notifierArgs` makes the same. */
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
