// SPDX-License-Identifier: Apache-2.0
import type { Log } from '#base/ports.ts';
import { createHttpsServer, type HttpsServer } from '#component/web/https-server.ts';
import type { Metrics } from '#component/web/metric-registry.ts';
import { serve } from '#component/web/server.ts';
import type { ComponentOptions } from './component-options.ts';
import { clock, delay } from './process.ts';
import { PROCESS_SERIES } from '#component/web/process-metrics.ts';

interface Ports {
  readonly port: number;
  readonly httpsPort: number | undefined;
  /** Reloads the serving certificate until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Closes the plain port, which answers probes until the end. */
  close(): Promise<void>;
}

/**
 * Opens the plain port and, if `--listen-https` is set, the TLS port. Only the TLS port serves
 * /metrics then.
 * @throws SignerError USAGE if a port cannot be opened
 */
export async function openPorts(
  options: Pick<ComponentOptions, 'listen' | 'listenHttps' | 'servingCertificate'>,
  parts: {
    readonly metrics: Metrics;
    readonly log: Log;
    readonly notReady: () => readonly string[];
    readonly warnings: () => readonly string[];
  },
): Promise<Ports> {
  const { metrics, log, notReady } = parts;
  const { listen, listenHttps } = options;
  const { registry } = metrics;
  const opened: { https?: HttpsServer } = {};
  const warnings = (): readonly string[] => [
    ...parts.warnings(),
    ...(opened.https?.warnings() ?? []),
  ];
  const answers = { registry, notReady, warnings };
  const plain = await serve({ ...answers, log, listen, withMetrics: listenHttps === undefined });
  if (listenHttps !== undefined) {
    opened.https = await createHttpsServer({
      ...answers,
      listen: listenHttps,
      flag: '--listen-https',
      directory: options.servingCertificate,
      clock,
      delay,
      log,
      measureNotAfter: (seconds) => metrics.of(PROCESS_SERIES).servingNotAfter.set({}, seconds),
    });
  }
  return {
    port: plain.port,
    httpsPort: opened.https?.port,
    run: async (signal) => opened.https?.run(signal),
    close: () => plain.close(),
  };
}
