// SPDX-License-Identifier: Apache-2.0
import { createServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import type { Delay, Clock, Log } from '../ports.ts';
import { createApplication } from './application.ts';
import { readServingCertificate, type ServingCertificate } from './serving-certificate.ts';
import { REQUEST_TIMEOUT_MS, listening, type ServerInit } from './server.ts';

export interface HttpsInit extends ServerInit {
  /** Where `tls.crt` and `tls.key` are. */
  readonly directory: string;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly log: Log;
  /** Unix seconds. */
  readonly measureNotAfter: (seconds: number) => void;
}

export interface HttpsServer {
  readonly port: number;
  /** Why nobody is served, or not with what is there now; empty when all is well. */
  warnings(): readonly string[];
  /** Looks after the files until `signal` is aborted, then closes the port. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * A kubelet needs about a minute to bring a changed Secret to the files; a tenth of that on top is
 * nothing. Projected volumes swap a symbolic link, which watches of files do not see.
 */
const RELOAD_MS = 5_000;

/** Whoever scrapes us has it since 2018 (RFC 8446). Older ones are no reason for a weaker port. */
const MIN_VERSION: TlsOptions['minVersion'] = 'TLSv1.3';

/**
 * Serves the same as `serve` over TLS, with a certificate from files. Connections live on when it is
 * replaced; new ones get the new one. Until there is a first, and whatever else is wrong with the
 * files, nothing breaks: what was read last stays in use, and a warning says why.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export async function createHttpsServer(init: HttpsInit): Promise<HttpsServer> {
  const { directory, clock, delay, log } = init;
  const options = { requestTimeout: REQUEST_TIMEOUT_MS, minVersion: MIN_VERSION };
  const server = createServer(options, createApplication(init));
  const open = await listening(server, init.listen);
  let current: ServingCertificate | undefined;
  let problem: string | undefined = 'not read yet';

  async function look(): Promise<void> {
    const found = await readServingCertificate(directory, clock());
    if (typeof found === 'string') {
      if (found !== problem)
        log.warn({ directory, error: found }, 'serving certificate not usable');
      problem = found;
      return;
    }
    problem = undefined;
    if (found.certificate === current?.certificate && found.key === current.key) return;
    current = found;
    server.setSecureContext({ cert: found.certificate, key: found.key, minVersion: MIN_VERSION });
    init.measureNotAfter(Math.floor(found.notAfter / 1000));
    log.info({ notAfter: new Date(found.notAfter).toISOString() }, 'serving certificate in use');
  }

  return {
    port: open.port,
    warnings: () => {
      if (problem === undefined) return [];
      const what = current === undefined ? 'no HTTPS' : 'HTTPS with an older certificate';
      return [`${what}: ${directory}: ${problem}`];
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await look();
        await delay(RELOAD_MS, signal).catch(() => undefined);
      }
      await open.close();
    },
  };
}
