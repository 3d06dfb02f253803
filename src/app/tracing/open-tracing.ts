// SPDX-License-Identifier: Apache-2.0
/** Sends traces by OTLP, as configured by the `OTEL_*` variables. */
import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type * as Sdk from '@opentelemetry/sdk-trace';
import type { Log } from '#base/ports.ts';
import type { Tracing } from '#component/tracing.ts';
import { VERSION } from '../version.ts';
import { tracingSettings, type TracingSettings } from './settings.ts';

/** Tracing, and the function that ends it. */
export interface OpenTracing {
  readonly tracing: Tracing | undefined;
  /** Sends waiting spans, for a few seconds at most. */
  readonly close: () => Promise<void>;
}

/** Timeout of the last batch. A pod has 30 seconds to end, of which the ledger may need ten. */
const LAST_BATCH_MILLISECONDS = 5_000;
/**
 * Spans that may wait for the next batch. More are dropped. One takes some KiB with its attributes.
 */
const MAX_WAITING = 2_048;

const OFF: OpenTracing = { tracing: undefined, close: () => Promise.resolve() };

/**
 * Starts tracing if the environment enables it; otherwise it costs nothing. Spans that cannot be
 * sent are dropped with a warning, and no request waits for them.
 * @param name - the subcommand
 */
export async function openTracing(
  name: string,
  env: NodeJS.ProcessEnv,
  log: Log,
): Promise<OpenTracing> {
  const settings = tracingSettings(env);
  if (settings === undefined) return OFF;
  for (const each of settings.ignored) log.warn({ setting: each }, 'OTEL setting is ignored');
  // Imported only here, so that processes without tracing do not load it.
  const sdk = await import('@opentelemetry/sdk-trace');
  const { createRequestTracing } = await import('./request-tracing.ts');
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await import('@opentelemetry/resources');
  const exporter = warning(await openExporter(settings), log);
  const ids = new RequestIds();
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': `countersign-${name}`,
        'service.version': VERSION,
        'service.instance.id': hostname(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new sdk.TracerProvider({
    resource,
    idGenerator: ids,
    sampler: samplerOf(sdk, settings),
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, maxQueueSize: MAX_WAITING })],
  });
  const tracer = provider.getTracer('countersign', VERSION);
  log.info({ protocol: settings.protocol, sampler: settings.sampler }, 'traces requests');
  return {
    tracing: createRequestTracing({
      tracerOf: (uid) => {
        ids.next = traceIdOf(uid);
        return tracer;
      },
    }),
    close: async () => {
      const timeout = new Promise<void>((resolve) => {
        setTimeout(resolve, LAST_BATCH_MILLISECONDS).unref();
      });
      await Promise.race([provider.shutdown().catch(() => undefined), timeout]);
    },
  };
}

async function openExporter({ protocol }: TracingSettings): Promise<Sdk.SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** Wraps an exporter to log once that sending fails, and once that it works again. */
function warning(exporter: Sdk.SpanExporter, log: Log): Sdk.SpanExporter {
  let failing = false;
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined;
        if (failed && !failing) {
          // The error's message may contain the receiver's response.
          log.warn({ error: result.error?.name, lost: spans.length }, 'traces cannot be sent');
        } else if (!failed && failing) log.info({}, 'traces are sent again');
        failing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/**
 * Generates IDs. The trace ID derives from the request's UID, so that all components add to one
 * trace without coordination.
 */
class RequestIds {
  /** Trace ID of the next span without a parent. */
  next = '';

  generateTraceId(): string {
    return this.next;
  }

  generateSpanId(): string {
    return randomBytes(8).toString('hex');
  }
}

/** Returns a trace ID of 16 bytes, as W3C Trace Context requires. */
function traceIdOf(uid: string): string {
  return createHash('sha256').update(uid).digest('hex').slice(0, 32);
}

function samplerOf(sdk: typeof Sdk, { sampler, ratio }: TracingSettings): Sdk.Sampler {
  // Each trace begins here, so no parent has a decision.
  switch (sampler.replace(/^parentbased_/, '')) {
    case 'always_off':
      return new sdk.AlwaysOffSampler();
    case 'traceidratio':
      return new sdk.TraceIdRatioBasedSampler(ratio);
    default:
      return new sdk.AlwaysOnSampler();
  }
}
