// SPDX-License-Identifier: Apache-2.0
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '#kube/client/client.ts';
import { startPebble, type Pebble } from '../../test/acme/pebble.ts';
import { openCluster, type Cluster } from '../../test/cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../../test/cluster/directory.ts';
import { freePort } from '../../test/cluster/ports.ts';
import { startBind, type DnsServer, type UpdateKey } from '../../test/dns/server.ts';
import { administratorOf } from '../cluster/administrator.ts';
import { BUNDLE, CLUSTER } from '../cluster/start.ts';

/** Every name of the bench is in it. */
export const ZONE = 'bench.example';

export const KEY: UpdateKey = {
  name: 'acme-key',
  algorithm: 'HMAC-SHA256',
  secret: Buffer.alloc(32, 7).toString('base64'),
};

/** One cluster, one ACME server and one DNS server for everybody. */
export interface Stage {
  readonly cluster: Cluster;
  /** The administrator's. */
  readonly client: Client;
  readonly pebble: Pebble;
  readonly bind: DnsServer;
  /** The log of the ACME server. */
  readonly log: string;
  stop(): Promise<void>;
}

/**
 * No nonce is refused, no authorization is used again, and the ACME server validates at once: what
 * a CA takes its time for is nobody's merit. It asks the DNS server that is updated.
 */
export async function startStage(say: (line: string) => void): Promise<Stage> {
  if (!existsSync(BUNDLE))
    throw new Error('dist/countersign.mjs is missing: run `make bench-acme`');
  const directory = makeDirectory();
  const log = join(directory, 'pebble.log');
  const bind = await startBind({
    directory: join(directory, 'dns'),
    address: '127.0.0.1',
    port: await freePort(),
    zones: { [ZONE]: ['@ NS ns1', 'ns1 A 127.0.0.1'] },
    updates: { zones: [ZONE], key: KEY },
  });
  const env = { PEBBLE_WFE_NONCEREJECT: '0' };
  const pebble = await startPebble(directory, { env, log, settings: { resolver: bind.at } });
  const cluster = await openCluster({ ...CLUSTER, log: say });
  const client = await administratorOf(cluster);
  return {
    cluster,
    client,
    pebble,
    bind,
    log,
    stop: async () => {
      await client.close();
      await cluster.stop();
      await pebble.stop();
      await bind.stop();
      removeDirectory(directory);
    },
  };
}

/** Where the log of the ACME server ends now. Bytes. */
export function endOfLog({ log }: Stage): number {
  return statSync(log).size;
}
