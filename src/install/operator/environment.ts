// SPDX-License-Identifier: Apache-2.0
/** Environment variables that the writer of a spec may give to components. */
import type { ComponentOverrides } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import { quote } from '#base/quote.ts';
import * as messages from './messages.ts';

/** An entry of `extraEnv`. */
type EnvironmentVariable = NonNullable<ComponentOverrides['extraEnv']>[number];

/** The variables that a kind of installation allows. All others are rejected. */
export interface AllowedEnvironment {
  /** Change only what a component logs, measures or reserves. */
  readonly harmless: ReadonlySet<string>;
  /** Choose the servers that a component calls, so they need an administrator's consent. */
  readonly dangerous: ReadonlySet<string>;
}

/**
 * Variables of Countersign's components: those that `app/tracing` reads for OpenTelemetry, and the
 * time zone.
 */
export const COUNTERSIGN_ENVIRONMENT: AllowedEnvironment = {
  harmless: new Set([
    'TZ',
    'OTEL_SDK_DISABLED',
    'OTEL_SERVICE_NAME',
    'OTEL_RESOURCE_ATTRIBUTES',
    'OTEL_TRACES_SAMPLER',
    'OTEL_TRACES_SAMPLER_ARG',
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
    'OTEL_EXPORTER_OTLP_COMPRESSION',
    'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION',
  ]),
  dangerous: new Set([
    'HTTPS_PROXY',
    'https_proxy',
    'NO_PROXY',
    'no_proxy',
    'OTEL_TRACES_EXPORTER',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    // Choose the trusted anchors, and the file with the key of the connection.
    'OTEL_EXPORTER_OTLP_CERTIFICATE',
    'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE',
    'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
    'OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE',
    'OTEL_EXPORTER_OTLP_CLIENT_KEY',
    'OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY',
  ]),
};

/**
 * Rejects environment variables that are not allowed. It is an allowlist, because libraries and the
 * C library read unknown variables, such as HOSTALIASES, LOCALDOMAIN and GLIBC_TUNABLES.
 *
 * @param overrides - each with its place in the spec
 * @param dangerZone - the administrator allows variables that choose the servers of a component
 */
export function refuseEnvironment(
  overrides: readonly (readonly [
    at: string,
    { readonly extraEnv?: readonly EnvironmentVariable[] },
  ])[],
  allowed: AllowedEnvironment,
  dangerZone: boolean,
): Refusal | undefined {
  for (const [at, { extraEnv = [] }] of overrides) {
    for (const variable of extraEnv) {
      const why = whyNot(variable, allowed, dangerZone);
      if (why === undefined) continue;
      const message = `${at}.extraEnv: ${quote(variable.name, 128)} ${why}`;
      return { reason: 'ForbiddenEnvironment', message };
    }
  }
  return undefined;
}

function whyNot(
  variable: EnvironmentVariable,
  { harmless, dangerous }: AllowedEnvironment,
  dangerZone: boolean,
): string | undefined {
  const { name } = variable;
  if (Object.keys(variable).some((key) => key !== 'name' && key !== 'value'))
    return messages.VALUE_ONLY;
  if (harmless.has(name)) return undefined;
  if (!dangerous.has(name)) return messages.unknownVariable([...harmless].join(', '));
  return dangerZone ? undefined : messages.DANGEROUS_VARIABLE;
}
