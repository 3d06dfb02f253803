// SPDX-License-Identifier: Apache-2.0
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tracingSettings } from '#app/tracing/settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const off: readonly [what: string, env: Readonly<Record<string, string>>][] = [
  ['nothing is set', {}],
  ['an endpoint is empty, which is as if it were not set', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  ['the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }],
  ['the exporter is none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
  ['only metrics have an endpoint', { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector' }],
];
for (const [what, env] of off) {
  test(`requests are not traced where ${what}`, () => {
    assert.equal(tracingSettings(env), undefined);
  });
}

test('an endpoint, or the exporter otlp, is enough: all requests, as http/protobuf', () => {
  const expected = {
    protocol: 'http/protobuf',
    sampler: 'parentbased_always_on',
    ratio: 1,
    ignored: [],
  };
  assert.deepEqual(tracingSettings(ENDPOINT), expected);
  assert.deepEqual(tracingSettings({ OTEL_TRACES_EXPORTER: 'otlp' }), expected);
  assert.deepEqual(
    tracingSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector' }),
    expected,
  );
});

test('what is set for traces counts more than what is set for all signals', () => {
  const env = {
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
  };
  assert.equal(tracingSettings(env)?.protocol, 'http/json');
});

test('what is not known is ignored with a word that names it', () => {
  const env = {
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_TRACES_SAMPLER: 'jaeger_remote',
    OTEL_TRACES_SAMPLER_ARG: '7',
  };
  assert.deepEqual(tracingSettings(env), {
    protocol: 'http/protobuf',
    sampler: 'parentbased_always_on',
    ratio: 1,
    ignored: [
      'protocol grpc: traces are sent as http/protobuf',
      'sampler jaeger_remote: all requests are traced',
      'OTEL_TRACES_SAMPLER_ARG 7: it is a number from 0 to 1, and 1 is used',
    ],
  });
});
