// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Certificates in which compilers are at work. */
export const COLD = 1_000;

/** What is read at three moments. */
export interface PathReadings<T> {
  /** After the first certificate. */
  readonly first: T;
  /** After {@link COLD} of them. */
  readonly cold: T;
  readonly last: T;
}

interface PathInit {
  readonly bundle: string;
  /** Requests, all of which wait when the process starts. */
  readonly requests: number;
  /** Flags for Node. */
  readonly flags: readonly string[];
  /** For the kubeconfig and the log. */
  readonly directory: string;
}

/** Runs our pcr-issuer against a server that does nothing but answer, and reads its process. */
export async function measurePath<T>(
  { bundle, requests, flags, directory }: PathInit,
  read: (pid: number) => T,
): Promise<PathReadings<T>> {
  const kubeconfig = join(directory, 'kubeconfig');
  const server = spawn(
    process.execPath,
    [join(import.meta.dirname, 'server.ts'), String(requests), kubeconfig],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const until = async (wanted: string): Promise<void> => {
    for (;;) {
      const line = await lines.next();
      if (line.done === true) throw new Error(`the server ended before "${wanted}"`);
      if (line.value === wanted) return;
    }
  };
  await until('listening');
  const log = createWriteStream(join(directory, 'log'));
  await once(log, 'open');
  const fixed = ['--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0', '--no-leases'];
  const issuer = spawn(process.execPath, [...flags, bundle, 'pcr-issuer', ...fixed], {
    stdio: ['ignore', 'ignore', log],
  });
  const pid = issuer.pid ?? 0;
  try {
    await until('issued 1');
    const first = read(pid);
    await until(`issued ${COLD}`);
    const cold = read(pid);
    await until(`issued ${requests}`);
    return { first, cold, last: read(pid) };
  } finally {
    const exited = once(issuer, 'exit');
    issuer.kill('SIGTERM');
    await exited;
    server.kill('SIGKILL');
    log.close();
  }
}
