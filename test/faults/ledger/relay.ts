// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Dice } from '../../oracle/dice.ts';
import { freePort } from '../../cluster/ports.ts';

/**
 * The way from the components to the ledger, which the lab can cut: bytes of TLS that it cannot
 * read.
 */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** Answers that were cut off: the ledger has the records, and the component does not know. */
  readonly lost: number;
  /** No connection reaches the ledger until `open`. */
  shut(): void;
  open(): void;
}

/** One answer in so many is lost, with its connection. */
const LOST_ONE_IN = 100;

/** @param target - the port of the ledger, on this machine */
export async function startRelay(target: number, dice: Dice): Promise<Relay> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let isShut = false;
  let lost = 0;
  const both = (one: Socket, other: Socket): void => {
    sockets.add(one);
    one.on('error', () => undefined);
    one.on('close', () => {
      sockets.delete(one);
      other.destroy();
    });
  };
  const server = createServer((client) => {
    if (isShut) {
      client.destroy();
      return;
    }
    const ledger = connect(target, '127.0.0.1');
    both(client, ledger);
    both(ledger, client);
    client.pipe(ledger);
    ledger.on('data', (bytes: Buffer) => {
      if (dice.roll(LOST_ONE_IN) > 0) client.write(bytes);
      else {
        lost += 1;
        client.destroy();
      }
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const each of sockets) each.destroy();
  };
  return {
    port,
    get lost() {
      return lost;
    },
    shut: () => {
      isShut = true;
      cut();
    },
    open: () => {
      isShut = false;
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
