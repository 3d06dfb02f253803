// SPDX-License-Identifier: Apache-2.0
import { createExchange } from '#base/egress/exchange.ts';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import type { LedgerStore, WitnessKey } from '#ledger/index.ts';
import type { Clock } from '#base/ports.ts';
import { PUBLISH_LIMITS, type Destination } from './destination.ts';
import { objectStore } from './object-store.ts';
import { webhook } from './webhook.ts';
import { witness } from './witness.ts';

/** Destinations of checkpoints, and the dependencies of their calls. */
export interface PlacesInit {
  readonly webhook?: URL | undefined;
  readonly readWebhookSecret?: (() => Promise<string>) | undefined;
  /** Absent without an object store. */
  readonly readObjectPlace?: (() => Promise<string>) | undefined;
  readonly witnesses: readonly { readonly key: WitnessKey; readonly url: URL }[];
  /** PEM of the only trust anchors for all destinations. Default: those of Node.js. */
  readonly ca?: string | undefined;
  readonly userAgent: string;
  /** Proxy of the environment. */
  readonly proxy: EgressProxy | undefined;
  readonly store: Pick<LedgerStore, 'tile'>;
  readonly clock: Clock;
}

/** Returns the destinations and a function that closes their connections. */
export function openDestinations(init: PlacesInit): {
  readonly destinations: readonly Destination[];
  readonly close: () => Promise<void>;
} {
  const { ca, userAgent, proxy, store, clock } = init;
  const exchange = createExchange({ ca, userAgent, limits: PUBLISH_LIMITS, proxy });
  const destinations: Destination[] = init.witnesses.map((each) =>
    witness({ ...each, store, exchange }),
  );
  const { webhook: url, readWebhookSecret: readSecret, readObjectPlace: readPlace } = init;
  if (url !== undefined) destinations.push(webhook({ url, readSecret, exchange, clock }));
  if (readPlace !== undefined) destinations.push(objectStore({ readPlace, exchange }));
  return { destinations, close: exchange.close };
}
