// SPDX-License-Identifier: Apache-2.0
/** Traces that are sent by OTLP, as the `OTEL_*` variables say. */
import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type * as Sdk from '@opentelemetry/sdk-trace';
import type { Log } from '../../ports.ts';
import type { Tracing } from '../../runtime/component/tracing.ts';
import { VERSION } from '../version.ts';
import { createRequestTracing } from './request-tracing.ts';
import { tracingSettings, type TracingSettings } from './settings.ts';

/** Tracing, and its end. */
export interface OpenTracing {
  readonly tracing: Tracing | undefined;
  /** Sends what waits, for some seconds at most. */
  readonly close: () => Promise<void>;
}

/** A pod has 30 seconds to end, of which the ledger may need ten. */
const LAST_BATCH_MILLISECONDS = 5_000;
/** Spans that wait for the next batch; more are dropped. Some KiB each with their attributes. */
const MAX_WAITING = 2_048;

const OFF: OpenTracing = { tracing: undefined, close: () => Promise.resolve() };

/**
 * Off, and then without a cost, unless the environment asks for it. What cannot be sent is dropped with a warning: no
 * request waits for a trace.
 *
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
  // Loaded only here: who does not trace has nothing of it in memory.
  const sdk = await import('@opentelemetry/sdk-trace');
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

/** Says once that traces cannot be sent, and once that they can again. */
function warning(exporter: Sdk.SpanExporter, log: Log): Sdk.SpanExporter {
  let failing = false;
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined;
        if (failed && !failing) {
          // Its message may hold what the receiver answered.
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

/** All components put a request into one trace, without a word to each other: its ID is made from the request's UID. */
class RequestIds {
  /** Of the next span without a parent. */
  next = '';

  generateTraceId(): string {
    return this.next;
  }

  generateSpanId(): string {
    return randomBytes(8).toString('hex');
  }
}

/** 16 bytes, as W3C Trace Context has them. */
function traceIdOf(uid: string): string {
  return createHash('sha256').update(uid).digest('hex').slice(0, 32);
}

function samplerOf(sdk: typeof Sdk, { sampler, ratio }: TracingSettings): Sdk.Sampler {
  // Each trace begins here: what a parent has decided is never asked.
  switch (sampler.replace(/^parentbased_/, '')) {
    case 'always_off':
      return new sdk.AlwaysOffSampler();
    case 'traceidratio':
      return new sdk.TraceIdRatioBasedSampler(ratio);
    default:
      return new sdk.AlwaysOnSampler();
  }
}
