// SPDX-License-Identifier: Apache-2.0
import type { LogLine } from '../../support/cluster/component-process.ts';
import { pathOf, type AnyRequest, type Wanted } from '../lab/wanted.ts';
import type { Tally } from '../proxy/tally.ts';
import type { Traffic } from '../proxy/traffic.ts';
import type { Write } from './writes.ts';

export interface Books {
  readonly traffic: Traffic;
  readonly tally: Tally;
  readonly writes: ReadonlyMap<string, readonly Write[]>;
  readonly objects: ReadonlyMap<string, AnyRequest>;
  /** Door → its log. */
  readonly logs: ReadonlyMap<string, readonly LogLine[]>;
}

/** The whole way of one request, a line each step, in the order of time. */
export function storyOf(wanted: Wanted, books: Books): readonly string[] {
  const { uid, name } = wanted;
  const path = pathOf(wanted);
  const object = books.objects.get(uid);
  const steps: [at: number, text: string][] = [];
  if (object !== undefined) {
    steps.push([Date.parse(object.metadata.creationTimestamp), `created, UID ${uid}`]);
  }
  for (const { at, subresource, user, code } of books.writes.get(uid) ?? []) {
    steps.push([Date.parse(at), `audit log: ${user} updates its ${subresource}: ${code}`]);
  }
  for (const call of books.traffic.find((each) => isOf(each.path, path))) {
    const { at, client, method, status, fault } = call;
    const done = fault === undefined ? '' : `, ${fault}`;
    steps.push([at, `proxy: ${client} ${method} ${call.path}: ${status ?? 'not answered'}${done}`]);
  }
  for (const each of books.tally.find(({ path: where }) => isOf(where, path))) {
    steps.push([each.at, `fault: ${each.client} ${each.fault}`]);
  }
  for (const [client, log] of books.logs) {
    for (const line of log) {
      if (line['uid'] !== uid && line['name'] !== name) continue;
      steps.push([Date.parse(String(line['time'])), `log of ${client}: ${JSON.stringify(line)}`]);
    }
  }
  const ordered = steps.sort(([a], [b]) => a - b);
  return [
    ...ordered.map(([at, text]) => `${new Date(at).toISOString()} ${text}`),
    `in the end: ${JSON.stringify(object?.status ?? object ?? 'gone')}`,
  ];
}

/** The request itself, or a subresource of it. */
function isOf(path: string, request: string): boolean {
  return path === request || path.startsWith(`${request}/`);
}
