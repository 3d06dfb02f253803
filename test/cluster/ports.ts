// SPDX-License-Identifier: Apache-2.0
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the kernel's ephemeral ports (32768 and up): a client that keeps dialling a stopped server
// there may be handed that very port as its own end, and then no restart can bind it.
const firstPort = 20_000;
const lastPort = 30_000;
const attempts = 100;

const handedOut = new Set<number>();

/** A port of 127.0.0.1 that nobody listens on, each only once in a process. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(firstPort, lastPort);
    if (!handedOut.has(port) && (await isFree(port))) {
      handedOut.add(port);
      return port;
    }
  }
  throw new Error(`no free port found between ${firstPort} and ${lastPort}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
