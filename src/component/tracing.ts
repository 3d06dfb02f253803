// SPDX-License-Identifier: Apache-2.0
/** Traces requests from the watch to the write. Absent unless the environment enables it. */

/** The subject of one reconciliation of a request. */
export interface TracedRequest {
  /** The queue's key. */
  readonly key: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly signer: string;
}

/** The result of a reconciliation. */
export interface TracedEnd {
  readonly outcome: string;
  readonly reason: string;
}

/** Receives the steps of a request. It never delays or fails a request. */
export interface Tracing {
  /**
   * Records that the watch delivered a change of the request with this key. Its next reconciliation
   * waits from now on.
   */
  arrived(key: string): void;
  /** Runs a reconciliation as a span of the request's trace. An outcome `ignored` leaves none. */
  reconciliation<R extends TracedEnd>(of: TracedRequest, work: () => Promise<R>): Promise<R>;
  /**
   * Runs a part of the present reconciliation as a child span, or alone without a reconciliation.
   */
  part<R>(name: string, attributes: SpanAttributes, work: () => Promise<R>): Promise<R>;
}

/** Attributes by the names of OpenTelemetry's semantic conventions where they exist. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Runs a step as a part of the present reconciliation, if tracing is on. */
export function traced<R>(
  { tracing }: { readonly tracing?: Tracing | undefined },
  name: string,
  work: () => Promise<R>,
): Promise<R> {
  return tracing === undefined ? work() : tracing.part(name, {}, work);
}
