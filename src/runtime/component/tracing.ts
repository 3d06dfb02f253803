// SPDX-License-Identifier: Apache-2.0
/** Traces of requests, from the watch to the write. Absent unless the environment asks for them. */

/** What one reconciliation of a request is about. */
export interface TracedRequest {
  /** The queue's key. */
  readonly key: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly signer: string;
}

/** How a reconciliation ended. */
export interface TracedEnd {
  readonly outcome: string;
  readonly reason: string;
}

/** Where the steps of a request are told. Nothing that it does delays or fails a request. */
export interface Tracing {
  /** The watch delivered a change of the request of this key: its next reconciliation waits from now on. */
  arrived(key: string): void;
  /** Runs a reconciliation as a span of the request's trace; an outcome `ignored` leaves none. */
  reconciliation<R extends TracedEnd>(of: TracedRequest, work: () => Promise<R>): Promise<R>;
  /** Runs a part of the present reconciliation as a child span; alone where there is none. */
  part<R>(name: string, attributes: SpanAttributes, work: () => Promise<R>): Promise<R>;
}

/** By the names of OpenTelemetry's semantic conventions where they have one. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** A step as a part of the present reconciliation, where requests are traced. */
export function traced<R>(
  { tracing }: { readonly tracing?: Tracing | undefined },
  name: string,
  work: () => Promise<R>,
): Promise<R> {
  return tracing === undefined ? work() : tracing.part(name, {}, work);
}
