// SPDX-License-Identifier: Apache-2.0
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import type { Delay, Clock, Log } from '../ports.ts';
import { createApplication } from './application.ts';
import { readServingCertificate, type ServingCertificate } from './serving-certificate.ts';
import { listening, timeoutsOf, type ServerInit } from './server.ts';

/** A port over TLS: where it listens, and its certificate. */
export interface TlsInit extends Pick<ServerInit, 'listen' | 'flag' | 'requestTimeoutMs'> {
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
  /** Who must be able to connect; default: whoever knows TLS 1.3. */
  readonly clients?: 'intermediate';
  /** Why a certificate must not be used, by its PEM; undefined where it may. */
  readonly refuse?: (certificate: string) => string | undefined;
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
 * Mozilla's "intermediate" of server-side TLS, without DHE, which it dropped: for clients of TLS 1.2.
 *
 * https://wiki.mozilla.org/Security/Server_Side_TLS
 */
const INTERMEDIATE: TlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
    ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
    ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ].join(':'),
};

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
  const { directory, delay, log } = init;
  const timeouts = timeoutsOf(init.requestTimeoutMs);
  const options = {
    ...timeouts,
    ...protocolOf(init),
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
    const found = await readUsable(init);
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
    server.setSecureContext({
      ...{ cert: found.certificate, key: found.key },
      ...protocolOf(init),
      ...clientCaOf(init, clientCa),
    });
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

function protocolOf({ clients }: TlsInit): TlsOptions {
  return clients === 'intermediate' ? INTERMEDIATE : { minVersion: MIN_VERSION };
}

/** @returns the reason, as text, where there is none */
async function readUsable({
  directory,
  clock,
  refuse,
}: TlsInit): Promise<ServingCertificate | string> {
  const found = await readServingCertificate(directory, clock());
  return typeof found === 'string' ? found : (refuse?.(found.certificate) ?? found);
}

/** Without `ca` Node would believe all public CAs. */
function clientCaOf(init: TlsInit, pem: string | undefined): Pick<TlsOptions, 'ca'> {
  return init.clientCa === undefined ? {} : { ca: pem === undefined ? [] : [pem] };
}
