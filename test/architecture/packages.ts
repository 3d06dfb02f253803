// SPDX-License-Identifier: Apache-2.0
/** Package → the only folders, or files, that may import it. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['kube'],
  '@opentelemetry/api': ['app/tracing'],
  '@opentelemetry/exporter-trace-otlp-http': ['app/tracing'],
  '@opentelemetry/exporter-trace-otlp-proto': ['app/tracing'],
  '@opentelemetry/resources': ['app/tracing'],
  '@opentelemetry/sdk-trace': ['app/tracing'],
  preact: ['console'],
  'preact-render-to-string': ['console/server'],
  undici: ['base/egress', 'acme', 'kube'],
  jose: ['acme'],
  tldts: ['acme/orders'],
  'dns-packet': ['acme/solving'],
  pg: ['ledger'],
  pkijs: ['diagnose/inspect', 'pki/keystores', 'ca/revocation'],
  asn1js: ['diagnose/inspect', 'pki/keystores', 'ca/revocation'],
  express: ['component/web', 'console/server'],
  'prom-client': ['component/web'],
  '@marcbachmann/cel-js': ['cel'],
  re2js: ['cel'],
  // install: the values of an installation.
  zod: ['acme', 'api', 'ca/ceremony', 'ca/key-holder', 'ledger', 'install'],
  commander: ['app', 'cli', 'library'],
  pino: ['app'],
  'pino-pretty': ['app'],
  yaml: ['cli', 'install', 'operations', 'kube/client/kubeconfig-files.ts'],
};
