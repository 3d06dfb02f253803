// SPDX-License-Identifier: Apache-2.0
/** The ledger behind the API server's aggregation layer, and who asks it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { get, request } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Secret } from '#api/object/object.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import { apply } from '../../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../../support/cluster/component-process.ts';
import { applySigner, example } from '../../support/cluster/fixture.ts';
import { componentKubeconfig, SYSTEM_NAMESPACE } from '../../support/cluster/installation.ts';
import { applyLedgerApiService, type LedgerStand } from './stand.ts';

const PATIENCE = 120_000;
export const SERVICE = 'v1alpha1.ledger.countersign.dev';
export const RAW = '/apis/ledger.countersign.dev/v1alpha1';

/** The certificate that `authority` makes, and a Service that leads to this machine. */
export async function serveBehindApiServer(
  cluster: Cluster,
  stand: LedgerStand,
): Promise<readonly ComponentProcess[]> {
  const running: ComponentProcess[] = [];
  await applyLedgerApiService(cluster);
  for (const name of ['attester', 'authority'] as const) {
    const kubeconfig = await componentKubeconfig(cluster, name);
    const args = ['--propagation', '1s', ...(name === 'authority' ? ['--aggregated-api'] : [])];
    running.push(await startComponent({ name, kubeconfig, args }));
  }
  await applySigner(cluster, example('serving'));
  await apply(cluster, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'countersign-ledger-api', namespace: SYSTEM_NAMESPACE },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  const patch = JSON.stringify({ spec: { service: { port: stand.port } } });
  await cluster.kubectl(['patch', 'apiservice', SERVICE, '--type=merge', '-p', patch]);
  const get = ['get', 'secret', 'countersign-ledger-serving', '-n', SYSTEM_NAMESPACE, '-o', 'json'];
  const { cert, key } = await until('the ledger has its certificate', PATIENCE, async () => {
    const { data = {} } = JSON.parse((await cluster.kubectl(get)).stdout) as Secret;
    const of = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString();
    return of('tls.crt') !== '' && { cert: of('tls.crt'), key: of('tls.key') };
  });
  stand.serveWith({ cert, key });
  return running;
}

/** `countersign ledger …` as the cluster's administrator. */
export function ledgerCommand(
  cluster: Cluster,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const program = [join(import.meta.dirname, '../../../src/cli/main.ts'), 'ledger'];
  return new Promise((resolve) => {
    const all = [...program, ...args, '--kubeconfig', cluster.kubeconfig];
    execFile(process.execPath, all, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

/** A file of the log, as anybody may have it. */
export function logFile(stand: LedgerStand, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const url = `https://127.0.0.1:${stand.port}/log/1/${path}`;
    get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      assert.equal(response.statusCode, 200, path);
      buffer(response).then(resolve, reject);
    }).on('error', reject);
  });
}

/** What the port answers somebody who says that they are an administrator. */
export function direct(
  stand: LedgerStand,
  pair: { readonly cert?: string; readonly key?: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
    const options = { ...pair, headers, rejectUnauthorized: false, agent: false };
    const url = `https://127.0.0.1:${stand.port}${RAW}/records`;
    const sent = request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The names of the keys in the Secret of the log's key. */
export async function keysInSecret(cluster: Cluster): Promise<readonly string[]> {
  const of = ['get', 'secret', 'countersign-ledger-key', '-n', SYSTEM_NAMESPACE, '-o', 'json'];
  const { data = {} } = JSON.parse((await cluster.kubectl(of)).stdout) as Secret;
  return Object.keys(data);
}
