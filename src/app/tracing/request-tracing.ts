// SPDX-License-Identifier: Apache-2.0
/** Traces requests through OpenTelemetry's API. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { BoundedMap } from '#base/bounded-map.ts';
import { SignerError } from '#base/errors.ts';
import type { SpanAttributes, TracedEnd, TracedRequest, Tracing } from '#component/tracing.ts';

/**
 * Queued requests with a known arrival at most. Beyond this number, the oldest loses the beginning
 * of its wait.
 */
const MAX_ARRIVED = 10_000;

export interface RequestTracingInit {
  /**
   * @returns a tracer whose spans without a parent belong to the trace of the request with this UID
   */
  readonly tracerOf: (uid: string) => Tracer;
}

/** Returns epoch milliseconds with a fraction, by the monotonic clock. */
const now = (): number => performance.timeOrigin + performance.now();

/**
 * Creates spans that begin with the watch event and end with the outcome. Their names and
 * attributes contain no untrusted text.
 */
export function createRequestTracing({ tracerOf }: RequestTracingInit): Tracing {
  const arrived = new BoundedMap<string, number>(MAX_ARRIVED);
  const present = new AsyncLocalStorage<{ readonly tracer: Tracer; readonly span: Span }>();

  async function reconciliation<R extends TracedEnd>(
    of: TracedRequest,
    work: () => Promise<R>,
  ): Promise<R> {
    const tracer = tracerOf(of.uid);
    const begun = now();
    const since = arrived.get(of.key) ?? begun;
    arrived.delete(of.key);
    const span = tracer.startSpan(
      `${of.kind} reconcile`,
      { startTime: since, attributes: attributesOf(of) },
      ROOT_CONTEXT,
    );
    const within = trace.setSpan(ROOT_CONTEXT, span);
    tracer.startSpan('queue', { startTime: since }, within).end(begun);
    try {
      const end = await present.run({ tracer, span }, work);
      // A span without an end is not sent. Nothing was done here.
      if (end.outcome !== 'ignored') {
        span.setAttributes({
          'countersign.outcome': end.outcome,
          'countersign.reason': end.reason,
        });
        span.end(now());
      }
      return end;
    } catch (error) {
      fail(span, error);
      throw error;
    }
  }

  async function part<R>(
    name: string,
    attributes: SpanAttributes,
    work: () => Promise<R>,
  ): Promise<R> {
    const parent = present.getStore();
    if (parent === undefined) return work();
    const { tracer } = parent;
    const kind = 'http.request.method' in attributes ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const within = trace.setSpan(ROOT_CONTEXT, parent.span);
    const span = tracer.startSpan(name, { kind, attributes: { ...attributes } }, within);
    try {
      const result = await present.run({ tracer, span }, work);
      span.end();
      return result;
    } catch (error) {
      fail(span, error);
      throw error;
    }
  }

  return { arrived: (key) => void arrived.set(key, now()), reconciliation, part };
}

function attributesOf({ kind, namespace, name, uid, signer }: TracedRequest): SpanAttributes {
  return {
    ...(namespace === undefined ? {} : { 'k8s.namespace.name': namespace }),
    'countersign.request.kind': kind,
    'countersign.request.name': name,
    'countersign.request.uid': uid,
    'countersign.signer.name': signer,
  };
}

/** Marks a span as failed with the error's code, because the message may quote a request. */
function fail(span: Span, error: unknown): void {
  const code = error instanceof SignerError ? error.code : 'UNEXPECTED';
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
