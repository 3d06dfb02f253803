// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../ports.ts';
import { createHttpsServer, type HttpsServer } from '../web/https-server.ts';
import type { Metrics } from '../web/metrics.ts';
import { serve } from '../web/server.ts';
import type { ComponentOptions } from './component-options.ts';

interface Ports {
  readonly port: number;
  readonly httpsPort: number | undefined;
  /** Looks after the serving certificate until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Ends the plain port, which probes ask to the last. */
  close(): Promise<void>;
}

/**
 * Opens the plain port and, where it is asked for, the one with TLS, which then alone has /metrics.
 *
 * @throws SignerError USAGE when one of them cannot be listened at
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
  const plain = await serve({ ...answers, listen, withMetrics: listenHttps === undefined });
  if (listenHttps !== undefined) {
    opened.https = await createHttpsServer({
      ...answers,
      listen: listenHttps,
      directory: options.servingCertificate,
      clock: () => Date.now(),
      delay: async (milliseconds, signal) => {
        await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
      },
      log,
      measureNotAfter: (seconds) => metrics.servingNotAfter.set(seconds),
    });
  }
  return {
    port: plain.port,
    httpsPort: opened.https?.port,
    run: async (signal) => opened.https?.run(signal),
    close: () => plain.close(),
  };
}
