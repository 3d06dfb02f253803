// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { Command } from '../cluster/binaries.ts';
import { freePort } from '../cluster/ports.ts';
import { until } from '../cluster/until.ts';
import { CLUSTER_LIFE_MS, tlsCertificate } from '../support/pki/tls-certificate.ts';
import { buildPebble } from './build.ts';

/** A change of what Pebble's challenge server answers. */
export type RecordChange =
  | 'add-txt'
  | 'clear-txt'
  | 'set-cname'
  | 'set-servfail'
  | 'end-servfail'
  | 'add-http01'
  | 'clear-http01';

/** Let's Encrypt's own test server, with the servers that it validates names by. */
export interface Pebble {
  readonly directory: string;
  /** PEM: the anchor of its TLS certificate. */
  readonly ca: string;
  /** host:port of the DNS server that it asks. */
  readonly dns: string;
  readonly change: (change: RecordChange, name: string, value?: string) => Promise<void>;
  /** What its management answers, such as `/roots/0`. */
  readonly manage: (path: string, body?: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

export interface PebbleInit {
  /**
   * PEBBLE_…: how often good nonces are refused, authorizations reused, how long validation takes.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** A file that its log is appended to; default: it is nobody's. */
  readonly log?: string;
  /** The network that it is put into; default: the caller's own. */
  readonly network?: PebbleNetwork;
  /** Names in its TLS certificate. */
  readonly names?: readonly string[];
}

/** Another network, which the two ports of 127.0.0.1 lead into. */
export interface PebbleNetwork {
  readonly within: (command: Command) => Command;
  /** Of the server there. */
  readonly address: string;
  readonly port: number;
  readonly managementPort: number;
}

const START_MS = 30_000;

/** Starts one with an issuer of its own; nothing is kept when it stops. */
export async function startPebble(directory: string, init: PebbleInit = {}): Promise<Pebble> {
  const program = await buildPebble((line) => console.error(line));
  const { network } = init;
  const { port = await freePort(), managementPort = await freePort() } = network ?? {};
  const [dns, http01, records] = await Promise.all(
    Array.from({ length: 3 }, async () => `127.0.0.1:${await freePort()}`),
  );
  const host = network?.address ?? '127.0.0.1';
  const management = `127.0.0.1:${managementPort}`;
  const { cert, key } = await tlsCertificate('pebble', {
    addresses: host === '127.0.0.1' ? [] : [host],
    dnsNames: init.names ?? [],
    lifeMs: CLUSTER_LIFE_MS,
  });
  const file = (name: string): string => join(directory, name);
  writeFileSync(file('pebble.crt'), cert);
  writeFileSync(file('pebble.key'), key);
  writeFileSync(
    file('pebble.json'),
    JSON.stringify({
      // Of another network, the loopback is where the caller's port leads.
      listen: network === undefined ? `127.0.0.1:${port}` : `:${port}`,
      management,
      dns,
      http01,
      records,
      certificate: file('pebble.crt'),
      key: file('pebble.key'),
      httpPort: Number(http01?.split(':')[1]),
      profiles: {
        default: { description: 'ninety days', validityPeriod: 7_776_000 },
        shortlived: { description: 'six days', validityPeriod: 518_400 },
      },
      ...init.settings,
    }),
  );
  const log = init.log === undefined ? 'ignore' : openSync(init.log, 'a');
  const command: Command = [program, file('pebble.json')];
  const [started, ...args] = network?.within(command) ?? command;
  const child = spawn(started, args, {
    stdio: ['ignore', log, 'pipe'],
    env: {
      ...process.env,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_AUTHZREUSE: '0',
      PEBBLE_WFE_NONCEREJECT: '20',
      ...init.env,
      CONTROLPLANE_OWNER_PID: `${process.pid}`,
    },
  });
  if (typeof log === 'number') closeSync(log);
  const agent = new Agent({ connect: { ca: cert } });
  const manage = async (path: string, body?: string): Promise<string> => {
    const headers = { 'user-agent': 'test' };
    const answer = await request(`https://${management}${path}`, {
      dispatcher: agent,
      headers,
      method: body === undefined ? 'GET' : 'POST',
      body: body ?? null,
    });
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
    return answer.body.text();
  };
  await untilHealthy(child, () => manage('/roots/0'));
  return {
    directory: `https://${host}:${port}/dir`,
    ca: readFileSync(file('pebble.crt'), 'utf8'),
    dns: dns ?? '',
    manage,
    change: async (change, name, value = '') => {
      const body = JSON.stringify({ name, value });
      const { statusCode } = await request(`http://${records}/${change}`, { method: 'POST', body });
      if (statusCode !== 200) throw new Error(`${change}: ${statusCode}`);
    },
    stop: async () => {
      await agent.destroy();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function untilHealthy(child: ChildProcess, probe: () => Promise<string>): Promise<void> {
  const said: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  await until('Pebble answers', START_MS, async () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${said.slice(-5).join('')}`);
    return (await probe()).includes('BEGIN CERTIFICATE');
  });
}
