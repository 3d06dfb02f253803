// SPDX-License-Identifier: Apache-2.0
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import type { Delay, Clock, Log } from '#base/ports.ts';
import { createApplication } from './application.ts';
import { readServingCertificate, type ServingCertificate } from './serving-certificate.ts';
import { listening, timeoutsOf, type ServerInit } from './server.ts';

/** A port over TLS: its address and its certificate. */
export interface TlsInit extends Pick<ServerInit, 'listen' | 'flag' | 'requestTimeoutMs'> {
  readonly maxConnections?: number;
  /** The directory of `tls.crt` and `tls.key`. */
  readonly directory: string;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly log: Log;
  /**
   * Returns the PEM of the CAs that verify certificates of clients. Absent: the server requests no
   * client certificate. While it returns undefined, no client certificate is valid. Called again
   * with each read of the files.
   */
  readonly clientCa?: (() => string | undefined) | undefined;
  /** The clients to support. Default: those with TLS 1.3. */
  readonly clients?: 'intermediate';
  /** Returns why a certificate must not be used, by its PEM, or undefined if it may. */
  readonly refuse?: (certificate: string) => string | undefined;
  /** Records the certificate's expiry in Unix seconds. */
  readonly measureNotAfter: (seconds: number) => void;
}

/** Such a port with the endpoints of `serve`. */
export type HttpsInit = ServerInit & TlsInit;

export interface HttpsServer {
  readonly port: number;
  /**
   * Returns why the port serves no TLS, or an older certificate than the files have. Otherwise
   * empty.
   */
  warnings(): readonly string[];
  /** Reads the files repeatedly until `signal` is aborted, then closes the port. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The interval of reads. A kubelet takes about a minute to update the files of a Secret, so these
 * seconds add little. Projected volumes swap a symbolic link, which file watches do not see.
 */
const RELOAD_MS = 5_000;

/** The minimum for current clients, all of which support TLS 1.3 (RFC 8446, 2018). */
const MIN_VERSION: TlsOptions['minVersion'] = 'TLSv1.3';

/**
 * Mozilla's "intermediate" of server-side TLS, for clients of TLS 1.2. It omits DHE, as Mozilla
 * does now.
 *
 * https://wiki.mozilla.org/Security/Server_Side_TLS
 */
const INTERMEDIATE: TlsOptions = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
};

/**
 * Serves the same as `serve` over TLS, with a certificate from files. After a replacement, open
 * connections stay, and new ones get the new certificate. While the files are unusable, the last
 * certificate stays in use, and a warning states the reason.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export function createHttpsServer(init: HttpsInit): Promise<HttpsServer> {
  return serveTls(init, createApplication(init));
}

/**
 * Serves any listener over TLS, with a certificate from files that are read repeatedly.
 *
 * @throws SignerError USAGE when it cannot listen there
 */
export async function serveTls(init: TlsInit, listener: RequestListener): Promise<HttpsServer> {
  const { directory, delay, log } = init;
  const timeouts = timeoutsOf(init.requestTimeoutMs);
  const options = {
    ...timeouts,
    ...protocolOf(init),
    // The timeouts of HTTP begin after it. Node's own is two minutes.
    handshakeTimeout: timeouts.requestTimeout,
    // A client without a valid certificate gets the same access as an anonymous one.
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
      cert: found.certificate,
      key: found.key,
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

/** @returns the certificate, or the reason why there is none */
async function readUsable({
  directory,
  clock,
  refuse,
}: TlsInit): Promise<ServingCertificate | string> {
  const found = await readServingCertificate(directory, clock());
  return typeof found === 'string' ? found : (refuse?.(found.certificate) ?? found);
}

/** Returns the CAs for clients. Without `ca` Node would trust all public CAs. */
function clientCaOf(init: TlsInit, pem: string | undefined): Pick<TlsOptions, 'ca'> {
  return init.clientCa === undefined ? {} : { ca: pem === undefined ? [] : [pem] };
}
