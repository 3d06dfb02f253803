// SPDX-License-Identifier: Apache-2.0
import type { Panel } from '#install/monitoring/panels.ts';

const STEPS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
] as const;

/** A value as Grafana writes it in one of its units. */
export function formatted(value: number, unit: Panel['unit']): string {
  if (!Number.isFinite(value)) return '–';
  if (unit === 's') return duration(value);
  // Milliseconds since 1970.
  if (unit === 'dateTimeFromNow') return `in ${duration((value - Date.now()) / 1000)}`;
  if (unit === 'percentunit') return `${short(value * 100)} %`;
  if (unit === 'bytes') return `${short(value / 2 ** 20)} MiB`;
  return unit === 'reqps' ? `${short(value)}/s` : short(value);
}

function duration(seconds: number): string {
  const [size, name] = STEPS.find(([each]) => Math.abs(seconds) >= each) ?? [1, 's'];
  return `${short(seconds / size)} ${name}`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
