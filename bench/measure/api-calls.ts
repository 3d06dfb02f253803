// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';

/** Calls that an API server has answered so far, or between two moments. */
export interface ApiCalls {
  /** Of any kind; a watch counts when it ends. */
  readonly all: number;
  /** Those that change what is stored. A review is asked with POST, and stored nowhere. */
  readonly mutating: number;
}

const MUTATING = ['POST', 'PUT', 'PATCH', 'DELETE', 'DELETECOLLECTION', 'APPLY'];

/** Reads `apiserver_request_total`; this reading itself is in the next one. */
export async function readApiCalls(client: Client): Promise<ApiCalls> {
  return countApiCalls(await readMetrics(client));
}

/** Calls so far that change what is stored: how many by `VERB resource.group/subresource`. */
export async function readApiWrites(client: Client): Promise<ReadonlyMap<string, number>> {
  const writes = new Map<string, number>();
  for (const line of (await readMetrics(client)).split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue;
    const [verb = '', resource = '', group = '', subresource = ''] = [
      'verb',
      'resource',
      'group',
      'subresource',
    ].map((label) => labelIn(line, label));
    if (!MUTATING.includes(verb) || resource.endsWith('reviews')) continue;
    const what = `${verb} ${resource}.${group}${subresource === '' ? '' : `/${subresource}`}`;
    writes.set(what, (writes.get(what) ?? 0) + valueIn(line));
  }
  return writes;
}

/** The sum of all series of this name that have all these labels, as `label="value"`. */
export async function readMetric(
  client: Client,
  name: string,
  labels: readonly string[],
): Promise<number> {
  return (await readMetrics(client))
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && labels.every((each) => line.includes(each)))
    .reduce((sum, line) => sum + valueIn(line), 0);
}

async function readMetrics(client: Client): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await client.stream({ method: 'GET', path: '/metrics' })) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function valueIn(line: string): number {
  return Number(line.slice(line.lastIndexOf('} ') + 2));
}

/** Of the text format of Prometheus. */
export function countApiCalls(metrics: string): ApiCalls {
  let [all, mutating] = [0, 0];
  for (const line of metrics.split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue;
    const count = valueIn(line);
    all += count;
    const verb = labelIn(line, 'verb');
    const stored = !labelIn(line, 'resource').endsWith('reviews');
    if (stored && MUTATING.includes(verb)) mutating += count;
  }
  return { all, mutating };
}

function labelIn(line: string, label: string): string {
  const start = line.indexOf(`${label}="`) + label.length + 2;
  return line.slice(start, line.indexOf('"', start));
}
