// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { freePort } from '../cluster/ports.ts';
import { until } from '../cluster/until.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';
import { buildVault } from './build.ts';

/** A real Vault on the loopback address, with its data in a directory. */
export interface Vault {
  readonly url: string;
  /** PEM: the CA of its certificate. */
  readonly ca: string;
  /** Starts the process, and unseals it. */
  start(): Promise<void>;
  stop(): Promise<void>;
  seal(): Promise<void>;
  unseal(): Promise<void>;
  /** What it answers its administrator: the member `data`, or the whole answer without one. */
  call(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>>;
}

const START_MS = 60_000;

/** Prepares a server in `directory`; it is started by {@link Vault.start}. */
export async function prepareVault(directory: string): Promise<Vault> {
  const program = await buildVault((line) => console.error(line));
  const file = (name: string): string => join(directory, name);
  mkdirSync(file('data'));
  const { cert, key } = await tlsCertificate('vault');
  writeFileSync(file('tls.crt'), cert);
  writeFileSync(file('tls.key'), key, { mode: 0o600 });
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  let secrets: { readonly unsealKey: string; readonly token: string } | undefined;

  const ask = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> => {
    const token = secrets?.token;
    const call = request(`${url}/v1/${path}`, {
      method,
      ca: cert,
      agent: false,
      headers: token === undefined ? {} : { 'x-vault-token': token },
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    const found = await text(answer);
    const parsed = (found === '' ? {} : JSON.parse(found)) as Readonly<Record<string, unknown>>;
    return { status: answer.statusCode ?? 0, body: parsed };
  };

  const call: Vault['call'] = async (method, path, body) => {
    const answer = await ask(method, path, body);
    if (answer.status >= 300) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return (answer.body['data'] as Readonly<Record<string, unknown>> | undefined) ?? answer.body;
  };

  const unseal = async (): Promise<void> => {
    await ask('PUT', 'sys/unseal', { key: secrets?.unsealKey });
    await until('Vault is active', START_MS, async () => {
      const { status } = await ask('GET', 'sys/health');
      return status === 200;
    });
  };

  return {
    url,
    ca: cert,
    call,
    unseal,
    seal: async () => {
      await call('PUT', 'sys/seal');
    },
    start: async () => {
      const args = [file('data'), `127.0.0.1:${port}`, file('tls.crt'), file('tls.key')];
      const env = { ...process.env, CONTROLPLANE_OWNER_PID: `${process.pid}` };
      const started = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
      child = started;
      const said: string[] = [];
      started.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
      await until('Vault answers', START_MS, async () => {
        if (started.exitCode !== null) throw new Error(`it ended: ${said.slice(-5).join('')}`);
        return (await ask('GET', 'sys/seal-status')).status === 200;
      });
      if (secrets === undefined) {
        const shares = { secret_shares: 1, secret_threshold: 1 };
        const { body } = await ask('PUT', 'sys/init', shares);
        const [unsealKey = ''] = body['keys'] as readonly string[];
        secrets = { unsealKey, token: String(body['root_token']) };
      }
      await unseal();
    },
    stop: async () => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
