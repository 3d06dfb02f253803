// SPDX-License-Identifier: Apache-2.0
/**
 * nginx as Debian has it: it takes who has a client certificate that its CRL does not list
 * (`ssl_crl`).
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../../cluster/ports.ts';
import { unpackDebian } from '../../dns/debian.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';

/** What a client heard. */
export interface Heard {
  readonly status: number;
  readonly body: string;
}

/** A server of its own in a directory, until it is stopped. */
export class Nginx {
  readonly #directory: string;
  readonly #port: number;
  readonly #process: ChildProcess;

  private constructor(directory: string, port: number, process: ChildProcess) {
    this.#directory = directory;
    this.#port = port;
    this.#process = process;
  }

  /** @param files - PEM: the client CAs, and the CRLs of all of them */
  static async start(
    directory: string,
    files: { readonly clientCas: string; readonly crls: string },
  ): Promise<Nginx> {
    mkdirSync(directory, { recursive: true });
    const port = await freePort();
    const { cert, key } = await tlsCertificate('nginx');
    const all = { 'tls.crt': cert, 'tls.key': key, 'ca.pem': files.clientCas };
    for (const [name, contents] of Object.entries({ ...all, 'nginx.conf': configuration(port) })) {
      writeFileSync(join(directory, name), contents);
    }
    writeFileSync(join(directory, 'crl.pem'), files.crls);
    const { root, env } = unpackDebian(['nginx']);
    const started = spawn(
      join(root, 'usr/sbin/nginx'),
      ['-p', directory, '-e', 'stderr', '-c', 'nginx.conf', '-g', 'daemon off;'],
      { env, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    return new Nginx(directory, port, started);
  }

  /** Puts other CRLs in the place of those that it has, and has it read its files again. */
  reload(crls: string): void {
    writeFileSync(join(this.#directory, 'crl.pem'), crls);
    this.#process.kill('SIGHUP');
  }

  /** Asks it as a client with this certificate, by a connection of its own. PEM. */
  ask(pair: { readonly cert: string; readonly key: string }): Promise<Heard> {
    return new Promise((resolve, reject) => {
      const options = { ...pair, rejectUnauthorized: false, agent: false };
      const sent = request(`https://127.0.0.1:${this.#port}/`, options, (response) => {
        const status = response.statusCode ?? 0;
        text(response).then((body) => {
          resolve({ status, body });
        }, reject);
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
  }
}

/** Paths are below the directory. */
function configuration(port: number): string {
  return `pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate tls.crt;
    ssl_certificate_key tls.key;
    ssl_client_certificate ca.pem;
    ssl_crl crl.pem;
    ssl_verify_client on;
    # What nginx says of a client that it refuses.
    error_page 495 =403 @refused;
    location @refused { return 403 "$ssl_client_verify"; }
    location / { return 200 "hello\\n"; }
  }
}
`;
}
