// SPDX-License-Identifier: Apache-2.0
/** Package → the only folders, or files, that may import it. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['kube'],
  '@opentelemetry/api': ['app/tracing'],
  '@opentelemetry/exporter-trace-otlp-http': ['app/tracing'],
  '@opentelemetry/exporter-trace-otlp-proto': ['app/tracing'],
  '@opentelemetry/resources': ['app/tracing'],
  '@opentelemetry/sdk-trace': ['app/tracing'],
  undici: ['acme', 'acme-solving', 'kube'],
  jose: ['acme'],
  tldts: ['acme-orders'],
  'dns-packet': ['acme-solving'],
  pg: ['ledger'],
  pkijs: ['inspecting', 'keystores', 'revocation'],
  asn1js: ['inspecting', 'keystores', 'revocation'],
  express: ['web'],
  'prom-client': ['web'],
  '@marcbachmann/cel-js': ['cel'],
  re2js: ['cel'],
  // manifests: the values of an installation.
  zod: ['acme', 'acme-solving', 'api', 'ledger', 'manifests'],
  commander: ['app', 'cli', 'library'],
  pino: ['app'],
  'pino-pretty': ['app'],
  yaml: ['cli', 'manifests', 'operations', 'kube/client/kubeconfig.ts'],
};
