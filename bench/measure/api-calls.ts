// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../../src/kube/client.ts';

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
  const chunks: Uint8Array[] = [];
  for await (const chunk of await client.stream({ method: 'GET', path: '/metrics' })) {
    chunks.push(chunk);
  }
  return countApiCalls(Buffer.concat(chunks).toString('utf8'));
}

/** Of the text format of Prometheus. */
export function countApiCalls(metrics: string): ApiCalls {
  let [all, mutating] = [0, 0];
  for (const line of metrics.split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue;
    const count = Number(line.slice(line.lastIndexOf('} ') + 2));
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
