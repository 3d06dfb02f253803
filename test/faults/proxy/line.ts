// SPDX-License-Identifier: Apache-2.0
import { once } from 'node:events';
import { statusOf } from './answer.ts';
import { struck } from './call.ts';
import type { Call } from './forward.ts';
import type { Inside } from './inside.ts';
import type { Fault, Verb } from './rule.ts';
import { trickle } from './trickle.ts';

/** Passes a line. @returns whether the next one shall pass as well */
export type LinePasser = (line: string) => Promise<boolean>;

/** The passer of one watch, which remembers what it holds back. */
export function createLinePasser(inside: Inside, call: Call): LinePasser {
  const { client, path, response } = call;
  let deferral = '';
  let slow = false;

  async function write(text: string): Promise<void> {
    if (slow) await trickle(response, Buffer.from(text));
    else response.write(text);
  }

  async function pass(line: string): Promise<true> {
    await write(`${line}\n${deferral}`);
    deferral = '';
    return true;
  }

  function end(text = ''): false {
    response.write(text, () => response.destroy());
    return false;
  }

  /** Nothing comes any more, and nothing says so. */
  async function silence(): Promise<false> {
    if (!response.destroyed) await once(response, 'close');
    return false;
  }

  async function suffer(fault: Fault, line: string): Promise<boolean> {
    switch (fault.kind) {
      case 'cut':
        return end();
      case 'truncate':
        return end(line.slice(0, line.length / 2));
      case 'silence':
        return silence();
      case 'answer':
        return end(`${JSON.stringify({ type: 'ERROR', object: statusOf(fault) })}\n`);
      case 'drop':
        return true;
      case 'duplicate':
        return pass(`${line}\n${line}`);
      case 'garble':
        return pass('{"type":"ADDED","object":');
      case 'reorder':
        deferral += `${line}\n`;
        return true;
      case 'kill':
        await inside.kill(client);
        return end();
      case 'slow':
        slow = true;
        return pass(line);
      case 'hold':
        await inside.holds.hold({ client, path, text: line });
        return pass(line);
      case 'delay':
      case 'swallow':
      case 'mute':
        return pass(line);
    }
  }

  return async (line) => {
    const fault = await struck(inside, call, verbsOf(line));
    return fault === undefined ? pass(line) : suffer(fault, line);
  };
}

const TYPES: readonly Verb[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

/** The line that ends an initial list is for itself: without it no list ever ends. */
function verbsOf(line: string): readonly Verb[] {
  const type = TYPES.find((each) => line.startsWith(`{"type":"${each}"`));
  if (type === 'BOOKMARK' && line.includes('"k8s.io/initial-events-end":"true"')) return ['SYNCED'];
  return type === undefined ? ['LINE'] : [type, 'LINE'];
}
