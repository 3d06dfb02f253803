// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../cluster/ports.ts';
import { until } from '../cluster/until.ts';
import { buildPrometheus } from './tools/build.ts';

/** A real Prometheus on the loopback address. */
export interface Prometheus {
  /**
   * What an instant query finds now: a series each, by its labels. Rejects with what Prometheus
   * says of a query.
   */
  query(expr: string): Promise<readonly Sample[]>;
  /** What a query found over the last `seconds`, at some 100 times of them. */
  range(expr: string, seconds: number): Promise<readonly Series[]>;
  /** Alerts that are pending or firing, by name. */
  alerts(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A series over time. */
export interface Series {
  readonly metric: Sample['metric'];
  /** Seconds since 1970, and the value then. */
  readonly points: readonly (readonly [time: number, value: number])[];
}

export interface PrometheusInit {
  /** `host:port` of each target's /metrics. */
  readonly targets: readonly string[];
  /** One that has its metrics on a TLS port, as a ServiceMonitor scrapes it; the CA as PEM. */
  readonly secured?: { readonly target: string; readonly ca: string };
  /** Rules as in a PrometheusRule. */
  readonly rules: readonly object[];
}

const START_MS = 120_000;

/** Starts it, scraping each second, and waits until it answers. */
export async function startPrometheus({
  targets,
  secured,
  rules,
}: PrometheusInit): Promise<Prometheus> {
  const program = await buildPrometheus((line) => {
    console.error(line);
  });
  const directory = mkdtempSync(join(tmpdir(), 'countersign-prometheus-'));
  const config = join(directory, 'prometheus.yaml');
  const rulesFile = join(directory, 'rules.yaml');
  writeFileSync(rulesFile, stringify({ groups: [{ name: 'countersign', rules }] }));
  // As a ServiceMonitor adds it.
  const labels = { namespace: 'countersign-system' };
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rulesFile],
      scrape_configs: [
        {
          job_name: 'countersign',
          static_configs: [{ targets, labels }],
        },
        ...(secured === undefined
          ? []
          : [
              {
                job_name: 'secured',
                scheme: 'https',
                tls_config: { ca: secured.ca },
                static_configs: [{ targets: [secured.target], labels }],
              },
            ]),
      ],
    }),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    program,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await until('Prometheus is ready', START_MS, async () => (await fetch(`${url}/-/ready`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    query: async (query) => {
      const body = new URLSearchParams({ query });
      const { result } = await answer<{ result: readonly Found[] }>(`${url}/api/v1/query`, body);
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    range: async (query, seconds) => {
      const end = Date.now() / 1000;
      const step = Math.max(1, Math.round(seconds / 100));
      // Whole steps, so that the last one is now: a series may be younger than a step.
      const times = { start: end - step * Math.ceil(seconds / step), end, step };
      const body = new URLSearchParams({ query });
      for (const [name, value] of Object.entries(times)) body.set(name, String(value));
      const path = `${url}/api/v1/query_range`;
      const { result } = await answer<{ result: readonly FoundRange[] }>(path, body);
      return result.map(({ metric, values }) => ({
        metric,
        points: values.map(([time, value]) => [time, Number(value)] as const),
      }));
    },
    alerts: async () => {
      const { alerts } = await answer<{ alerts: readonly { labels: { alertname: string } }[] }>(
        `${url}/api/v1/alerts`,
      );
      return alerts.map(({ labels }) => labels.alertname);
    },
    stop,
  };
}

interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

interface FoundRange {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly Found['value'][];
}

/** https://prometheus.io/docs/prometheus/latest/querying/api/ */
async function answer<T>(url: string, body?: URLSearchParams): Promise<T> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body });
  const { status, error, data } = (await response.json()) as {
    readonly status: string;
    readonly error?: string;
    readonly data: T;
  };
  if (status !== 'success') throw new Error(error ?? status);
  return data;
}
