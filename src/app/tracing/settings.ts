// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the trace settings of the environment:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */

/** Trace settings. */
export interface TracingSettings {
  readonly protocol: Protocol;
  readonly sampler: SamplerName;
  /** Sampling ratio, 0 to 1, for the samplers by ratio. */
  readonly ratio: number;
  /** Ignored settings, for the log. */
  readonly ignored: readonly string[];
}

const SAMPLERS = [
  'parentbased_always_on',
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** Supported protocols. The first is the specification's default. */
const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings. Tracing is off unless an OTLP endpoint is set or `OTEL_TRACES_EXPORTER` is
 * `otlp`.
 * @returns undefined if tracing is off; unknown values are listed and ignored, as the specification
 * requires
 */
export function tracingSettings(env: Environment): TracingSettings | undefined {
  const set = (name: string): string | undefined => {
    const value = env[name]?.trim();
    return value === '' ? undefined : value;
  };
  if (!isOn(set)) return undefined;
  const ignored: string[] = [];
  const asked = set('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? set('OTEL_EXPORTER_OTLP_PROTOCOL');
  return {
    protocol: known(PROTOCOLS, asked, (it, used) =>
      ignored.push(`protocol ${it}: traces are sent as ${used}`),
    ),
    sampler: known(SAMPLERS, set('OTEL_TRACES_SAMPLER'), (it) =>
      ignored.push(`sampler ${it}: all requests are traced`),
    ),
    ratio: ratioOf(set('OTEL_TRACES_SAMPLER_ARG'), ignored),
    ignored,
  };
}

function isOn(set: (name: string) => string | undefined): boolean {
  if (set('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  const exporters = set('OTEL_TRACES_EXPORTER');
  if (exporters !== undefined) return exporters === 'otlp';
  const names = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  return names.some((name) => set(name) !== undefined);
}

/** Returns the requested value if it is known, else the first, which is the default. */
function known<T extends string>(
  all: readonly [T, ...T[]],
  asked: string | undefined,
  onUnknown: (asked: string, used: T) => void,
): T {
  const found = all.find((each) => each === asked);
  if (asked !== undefined && found === undefined) onUnknown(asked, all[0]);
  return found ?? all[0];
}

function ratioOf(text: string | undefined, ignored: string[]): number {
  if (text === undefined) return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  ignored.push(`OTEL_TRACES_SAMPLER_ARG ${text}: it is a number from 0 to 1, and 1 is used`);
  return 1;
}
