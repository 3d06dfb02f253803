// SPDX-License-Identifier: Apache-2.0
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import type { Clock, Delay, Log, Monotonic } from '#base/ports.ts';
import type { Component, Controller } from './contract.ts';

/** Flags of every component that some of them read themselves. */
export interface SharedFlags {
  /** Directory with tls.crt and tls.key of the component's own ports. */
  readonly servingCertificate: string;
}

/** The process, as the component that runs in it sees it. `app/host.ts` creates it. */
export interface Host<Flags = object> {
  /** The values of the flags. */
  readonly flags: Flags & SharedFlags;
  /** The version of this build. */
  readonly version: string;
  /** The User-Agent of calls that leave the cluster (RFC 9110 section 10.1.5). */
  readonly userAgent: string;
  /** Path of the program, which a component can start again as a worker. */
  readonly program: string;
  /** Names of all components of an installation. */
  readonly components: readonly string[];
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  /**
   * Reads the proxy of the environment, for calls that leave the cluster. No call to the API server
   * or to a Service takes it.
   *
   * @throws SignerError USAGE for a malformed variable
   */
  readonly egressProxy: () => EgressProxy | undefined;
  /**
   * Runs the controller that `make` creates, until the process is stopped. `make` can query the API
   * server, and is retried until it succeeds. Its component has a recorder if flags name a ledger.
   */
  run(make: (component: Component, log: Log) => Promise<Controller>): Promise<void>;
}

/** `run.ts` in the folder of a component: all its code, which only its own process loads. */
export interface ComponentCode {
  /** Runs the component until it is stopped. */
  run(host: Host): Promise<void>;
}
