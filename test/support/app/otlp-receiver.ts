// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * A span as OTLP's JSON has it: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly status: { readonly code?: number };
}

type Attributes = readonly { readonly key: string; readonly value: object }[];

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A span, and the service that sent it. */
export type ReceivedSpan = Omit<OtlpSpan, 'attributes'> & {
  readonly service: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
};

/** A receiver of OTLP over HTTP on the loopback address. */
export interface OtlpReceiver {
  readonly url: string;
  /** The status of its answers. */
  answer: number;
  readonly received: { readonly path: string; readonly type: string; readonly body: Buffer }[];
  /** The spans of all JSON bodies, which are forgotten. */
  take(): readonly ReceivedSpan[];
  stop(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const received: OtlpReceiver['received'] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { url = '', headers } = request;
      received.push({ path: url, type: headers['content-type'] ?? '', body });
      response.writeHead(receiver.answer, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${port}`,
    answer: 200,
    received,
    take: () => received.splice(0).flatMap(({ body }) => spansOf(body)),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}

function spansOf(body: Buffer): readonly ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body.toString()) as OtlpTraces;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = valuesOf(resource.attributes)['service.name'];
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({ ...span, service, attributes: valuesOf(span.attributes) })),
    );
  });
}

function valuesOf(attributes: Attributes): Readonly<Record<string, unknown>> {
  const entries = attributes.map(({ key, value }) => [key, Object.values(value)[0]] as const);
  return Object.fromEntries(entries);
}
