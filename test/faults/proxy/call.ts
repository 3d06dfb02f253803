// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { answer } from './answer.ts';
import { forward, passed, type Call } from './forward.ts';
import type { Inside } from './inside.ts';
import type { Fault, Verb } from './rule.ts';
import { trickle } from './trickle.ts';
import type { Passed } from './traffic.ts';

/** Passes one call that is no watch, with what the script has for it. */
export async function passCall(inside: Inside, call: Call): Promise<void> {
  const record = inside.traffic.begin(call);
  const fault = await struck(inside, call, [call.method as Verb, 'ANY']);
  record.fault = fault?.kind;
  if (fault !== undefined && !(await before(inside, call, fault))) return;
  const whole = await ask(inside, call, record);
  // A server that does not answer is for the client what it is for us: a connection that ends.
  if (whole === undefined) call.response.destroy();
  else await deliver(inside, call, fault, whole);
}

interface Whole {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

/** Lets the delays pass. @returns the fault behind them, if there is one */
export async function struck(
  { script }: Inside,
  { client, path }: Pick<Call, 'client' | 'path'>,
  verbs: readonly Verb[],
): Promise<Fault | undefined> {
  let found: Fault | undefined;
  for (const fault of script.strike({ client, verbs, path })) {
    if (fault.kind === 'delay') await sleep(script.between(fault.least, fault.most));
    else found = fault;
  }
  return found;
}

/** What is done before the server hears of the call. @returns whether it shall */
export async function before(inside: Inside, call: Call, fault: Fault): Promise<boolean> {
  const { client, path, body, response } = call;
  switch (fault.kind) {
    case 'cut':
      response.destroy();
      return false;
    case 'silence':
      return false;
    case 'answer':
      answer(response, fault);
      return false;
    case 'hold':
      await inside.holds.hold({ client, path, text: body.toString() });
      return true;
    case 'kill':
      if (fault.moment !== 'answered') await inside.kill(client);
      return fault.moment !== 'unsent';
    case 'delay':
    case 'swallow':
    case 'mute':
    case 'truncate':
    case 'slow':
    case 'drop':
    case 'duplicate':
    case 'reorder':
    case 'garble':
      return true;
  }
}

/** The server's whole answer; undefined when none came. */
async function ask({ upstream }: Inside, call: Call, record: Passed): Promise<Whole | undefined> {
  try {
    // Without a signal: what a client sent before it died is on its way.
    const { statusCode, headers, body } = await forward(upstream, call);
    record.status = statusCode;
    return {
      status: statusCode,
      headers: passed(headers),
      body: Buffer.from(await body.arrayBuffer()),
    };
  } catch {
    return undefined;
  }
}

async function deliver(
  inside: Inside,
  { client, response }: Call,
  fault: Fault | undefined,
  { status, headers, body }: Whole,
): Promise<void> {
  if (fault?.kind === 'mute') return;
  if (fault?.kind === 'swallow' || fault?.kind === 'kill') {
    if (fault.kind === 'kill' && fault.moment === 'answered') await inside.kill(client);
    response.destroy();
    return;
  }
  response.writeHead(status, { ...headers, 'content-length': body.length });
  if (fault?.kind === 'truncate') {
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
    return;
  }
  if (fault?.kind === 'slow') await trickle(response, body);
  response.end(fault?.kind === 'slow' ? undefined : body);
}
