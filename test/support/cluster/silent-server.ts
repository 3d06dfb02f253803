// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../cluster/ports.ts';

/** An API server that takes connections and never answers. */
export interface SilentServer {
  /** A kubeconfig of it. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

export const openSilentServer = (): Promise<SilentServer> => openWrittenServer(() => undefined);

/**
 * An API server without the kinds that matter: it answers whoever may do nothing but discovery
 * (ClusterRole system:discovery), and forbids all else as `Status` objects say it.
 */
export const openForbiddingServer = (): Promise<SilentServer> =>
  openWrittenServer(({ url = '' }, response) => {
    const answer = discovered(url);
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403 };
    const forbidden = { ...status, reason: 'Forbidden', message: 'no' };
    response.writeHead(answer === undefined ? 403 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? forbidden));
  });

function discovered(url: string): object | undefined {
  if (url === '/version') return { major: '1', minor: '37', gitVersion: 'v1.37.1' };
  const [, groupVersion] = /^\/apis\/([^/]+\/[^/]+)$/.exec(url) ?? [];
  if (groupVersion === undefined) return undefined;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: [] };
}

/** An API server that a test writes. */
export async function openWrittenServer(listener: RequestListener): Promise<SilentServer> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-silent-'));
  const server = createServer(listener);
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [
      {
        name: 'x',
        cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true },
      },
    ],
    users: [{ name: 'x', user: { token: 'nobody' } }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  return {
    kubeconfig,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}
