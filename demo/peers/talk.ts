// SPDX-License-Identifier: Apache-2.0
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../../test/cluster/until.ts';

/** The two files that a kubelet wrote for one pod. */
export interface Identity {
  readonly credentials: string;
  readonly trust: string;
}

/** What the client saw: the server's identity, or why there was no connection. */
export interface Heard {
  readonly server?: string;
  readonly heard?: string;
  readonly refused?: string;
}

/** A server process that reads a pod's files. */
export interface PeerServer {
  readonly port: number;
  /** Identities and refusals as the server saw them, in order. */
  readonly seen: readonly { readonly peer?: string; readonly refused?: string }[];
  stop(): void;
}

const HERE = import.meta.dirname;
const START_MS = 10_000;

export async function startServer(identity: Identity): Promise<PeerServer> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(HERE, 'server.ts'), identity.credentials, identity.trust, '127.0.0.1', '0'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const seen: { port?: number; peer?: string; refused?: string }[] = [];
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) =>
      seen.push(JSON.parse(line) as (typeof seen)[number]),
    );
  }
  const port = await until('the server listens', START_MS, () => {
    if (child.exitCode !== null) throw new Error('the server ended');
    return seen[0]?.port;
  });
  return {
    port,
    get seen() {
      return seen.slice(1);
    },
    stop: () => child.kill(),
  };
}

export async function talk(port: number, identity: Identity, wanted: string): Promise<Heard> {
  const args = [
    join(HERE, 'client.ts'),
    `127.0.0.1:${port}`,
    identity.credentials,
    identity.trust,
    wanted,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Heard;
}
