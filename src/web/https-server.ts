// SPDX-License-Identifier: Apache-2.0
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import type { Delay, Clock, Log } from '../ports.ts';
import { createApplication } from './application.ts';
import { readServingCertificate, type ServingCertificate } from './serving-certificate.ts';
import { listening, timeoutsOf, type ServerInit } from './server.ts';

/** A port over TLS: where it listens, and its certificate. */
export interface TlsInit extends Pick<ServerInit, 'listen' | 'requestTimeoutMs'> {
  readonly mostConnections?: number;
  /** Where `tls.crt` and `tls.key` are. */
  readonly directory: string;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly log: Log;
  /**
   * PEM of the CAs by which certificates of clients are verified: without it none is asked for; while it gives nothing,
   * none is good. It is asked again with the files.
   */
  readonly clientCa?: (() => string | undefined) | undefined;
  /** Unix seconds. */
  readonly measureNotAfter: (seconds: number) => void;
}

/** Such a port that answers as `serve` does. */
export type HttpsInit = ServerInit & TlsInit;

export interface HttpsServer {
  readonly port: number;
  /** Why the port serves no TLS, or an older certificate than the files have; empty otherwise. */
  warnings(): readonly string[];
  /** Reads the files again and again until `signal` is aborted, then closes the port. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * A kubelet takes about a minute to update the files of a Secret; these seconds add little. Projected volumes swap a
 * symbolic link, which file watches do not see.
 */
const RELOAD_MS = 5_000;

/** Every current client supports TLS 1.3 (RFC 8446, 2018). */
const MIN_VERSION: TlsOptions['minVersion'] = 'TLSv1.3';

/**
 * Serves the same as `serve` over TLS, with a certificate from files. When it is replaced, open connections stay, and
 * new ones get the new certificate. While the files cannot be used, the last certificate stays in use, and a warning
 * says why.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export function createHttpsServer(init: HttpsInit): Promise<HttpsServer> {
  return serveTls(init, createApplication(init));
}

/**
 * Serves anything over TLS, with a certificate from files that are read again.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export async function serveTls(init: TlsInit, listener: RequestListener): Promise<HttpsServer> {
  const { directory, clock, delay, log } = init;
  const timeouts = timeoutsOf(init.requestTimeoutMs);
  const options = {
    ...timeouts,
    minVersion: MIN_VERSION,
    // The timeouts of HTTP begin after it; Node's own is two minutes.
    handshakeTimeout: timeouts.requestTimeout,
    // Who shows no certificate, or a wrong one, is served as anybody.
    ...(init.clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
  };
  const server = createServer(options, listener);
  const open = await listening(server, init);
  let current: ServingCertificate | undefined;
  let currentCa: string | undefined;
  let problem: string | undefined = 'not read yet';

  async function reload(): Promise<void> {
    const found = await readServingCertificate(directory, clock());
    if (typeof found === 'string') {
      if (found !== problem)
        log.warn({ directory, error: found }, 'serving certificate not usable');
      problem = found;
      return;
    }
    problem = undefined;
    const clientCa = init.clientCa?.();
    const isSame = found.certificate === current?.certificate && found.key === current.key;
    if (isSame && clientCa === currentCa) return;
    [current, currentCa] = [found, clientCa];
    server.setSecureContext({ ...contextOf(found), ...clientCaOf(init, clientCa) });
    if (isSame) return;
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
        await reload();
        await delay(RELOAD_MS, signal).catch(() => undefined);
      }
      await open.close();
    },
  };
}

function contextOf({ certificate: cert, key }: ServingCertificate): TlsOptions {
  return { cert, key, minVersion: MIN_VERSION };
}

/** Without `ca` Node would believe all public CAs. */
function clientCaOf(init: TlsInit, pem: string | undefined): Pick<TlsOptions, 'ca'> {
  return init.clientCa === undefined ? {} : { ca: pem === undefined ? [] : [pem] };
}
