// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const timeoutMilliseconds = 5_000;

/** Whether a GET answers 200. */
export async function probe(url: string, directory: string): Promise<boolean> {
  return (await get(url, directory)).status === 200;
}

/** One GET as the cluster's administrator, on a connection of its own. */
export async function get(
  url: string,
  directory: string,
): Promise<{ status: number; body: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { agent: false, timeout: timeoutMilliseconds };
    const request = url.startsWith('https:')
      ? requestHttps(url, { ...options, ...administrator(directory) }, resolve)
      : requestHttp(url, options, resolve);
    request.on('timeout', () => request.destroy(new Error(`GET ${url}: no answer`)));
    request.on('error', reject);
    request.end();
  });
  return { status: response.statusCode ?? 0, body: await text(response) };
}

function administrator(directory: string): { ca: Buffer; cert: Buffer; key: Buffer } {
  const read = (name: string): Buffer => readFileSync(join(directory, 'pki', name));
  return { ca: read('server-ca.crt'), cert: read('admin.crt'), key: read('admin.key') };
}
