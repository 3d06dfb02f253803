// SPDX-License-Identifier: Apache-2.0
import type { ServerResponse } from 'node:http';
import { decodeLines } from '#kube/watch/line-decoder.ts';
import { before, struck } from './call.ts';
import { forward, passed, type Call } from './forward.ts';
import { createLinePasser } from './line.ts';
import type { Inside } from './inside.ts';
import type { Verb } from './rule.ts';

/** Passes one watch, line by line, with what the script has for its opening and for its lines. */
export async function passWatch(inside: Inside, call: Call): Promise<void> {
  const { response } = call;
  const fault = await struck(inside, call, openingVerbs(call));
  if (fault !== undefined && !(await before(inside, call, fault))) return;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    // A client that prefers protobuf gets JSON, so that the script sees lines.
    const inJson = { ...call, headers: { ...call.headers, accept: 'application/json' } };
    const { statusCode, headers, body } = await forward(inside.upstream, inJson, gone.signal);
    if (fault?.kind === 'mute') return;
    if (fault?.kind === 'swallow') {
      response.destroy();
      return;
    }
    response.writeHead(statusCode, passed(headers));
    response.flushHeaders();
    if (statusCode !== 200) {
      response.end(Buffer.from(await body.arrayBuffer()));
      return;
    }
    requireJson(headers['content-type']);
    const passer = createLinePasser(inside, call);
    for await (const line of decodeLines(body)) {
      if (response.destroyed) return;
      if (!(await passer(line))) return;
      await drained(response);
    }
    response.end();
  } catch (error) {
    response.destroy();
    if (error instanceof TypeError) throw error;
  }
}

function requireJson(type: string | string[] | undefined): void {
  if (String(type).startsWith('application/json')) return;
  throw new TypeError(`the fault proxy reads watches in JSON only, not in ${String(type)}`);
}

/** A client that is stopped reads nothing; one that is gone never will. */
async function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

function openingVerbs({ target }: Call): readonly Verb[] {
  const query = new URL(target, 'https://proxy').searchParams;
  const resumes = query.get('resourceVersion') !== null && query.get('sendInitialEvents') === null;
  return resumes ? ['RESUME', 'WATCH', 'ANY'] : ['WATCH', 'ANY'];
}
