// SPDX-License-Identifier: Apache-2.0
/** The process of a token, as its key holder sees it. */
import { fork, type ChildProcess } from 'node:child_process';
import { membersOf } from '#base/record.ts';
import {
  FAULT_SCOPES,
  TokenFault,
  type TokenOrder,
  type TokenReply,
  type TokenRequest,
} from './orders.ts';
import { TOKEN_PROCESS_FLAG } from './flag.ts';

/** A process in which the module of a token runs. */
export interface TokenChild {
  /**
   * Sends an order, and returns what the token answers.
   *
   * @param limitMs - the process is killed after this time: a call of a module cannot be aborted.
   *   Its module must be able to begin the order at once.
   * @throws TokenFault, also if the process ends
   */
  readonly order: (order: TokenOrder, limitMs: number) => Promise<unknown>;
  /** Resolves with the reason that the process ended. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

/** Starts the process of a token. */
export type StartTokenChild = () => TokenChild;

/**
 * Starts this program again. The process has no output, since modules may print anything. Its
 * messages, one of which has the PIN, use a pipe that no other process has.
 */
export function startTokenChild(): TokenChild {
  const [, program = ''] = process.argv;
  return overIpc(
    fork(program, ['key-holder', TOKEN_PROCESS_FLAG], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    }),
  );
}

/** The limit of the text of a fault, which has labels of tokens. */
const MAX_FAULT_LENGTH = 1000;

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (fault: TokenFault) => void;
  readonly timer: NodeJS.Timeout;
}

interface ChildState {
  /** Number of the next order. */
  next: number;
  /** The reason that it was killed. */
  hung: string | undefined;
  hasEnded: boolean;
}

/** Returns an answer, or undefined for any other message: a module may send what it likes. */
function readReply(message: unknown): TokenReply | undefined {
  const { id, value, fault, scope } = membersOf(message);
  if (typeof id !== 'number') return undefined;
  if (fault === undefined) return { id, value };
  if (typeof fault !== 'string') return undefined;
  const known = FAULT_SCOPES.find((each) => each === scope);
  return known && { id, fault: fault.slice(0, MAX_FAULT_LENGTH), scope: known };
}

/** Speaks to a process by its IPC. */
function overIpc(child: ChildProcess): TokenChild {
  const pending = new Map<number, PendingCall>();
  const state: ChildState = { next: 1, hung: undefined, hasEnded: false };
  const ended = new Promise<string>((resolve) => {
    const end = (why: string): void => {
      state.hasEnded = true;
      resolve(why);
      for (const each of pending.values()) {
        clearTimeout(each.timer);
        each.reject(new TokenFault(why, 'process'));
      }
      pending.clear();
    };
    child.once('error', (error) => {
      end(`cannot start the process of its module: ${error.message}`);
    });
    child.once('exit', (code, signal) => {
      end(state.hung ?? `the process of its module ended (${signal ?? String(code)})`);
    });
  });
  child.on('message', (message: unknown) => {
    const reply = readReply(message);
    if (reply === undefined) {
      state.hung = 'the process of its module sent an invalid answer';
      child.kill('SIGKILL');
      return;
    }
    const waiting = pending.get(reply.id);
    if (waiting === undefined) return;
    pending.delete(reply.id);
    clearTimeout(waiting.timer);
    if (reply.fault === undefined) waiting.resolve(reply.value);
    else waiting.reject(new TokenFault(reply.fault, reply.scope));
  });
  const order = (given: TokenOrder, limitMs: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (state.hasEnded || !child.connected) {
        reject(new TokenFault('the process of its module ended', 'process'));
        return;
      }
      const request: TokenRequest = { id: state.next, order: given };
      state.next += 1;
      const timer = setTimeout(() => {
        state.hung = `its module did not answer within ${limitMs / 1000} s`;
        child.kill('SIGKILL');
      }, limitMs);
      pending.set(request.id, { resolve, reject, timer });
      // If it is not sent, the end of the process rejects it.
      child.send(request, () => undefined);
    });
  return {
    order,
    ended,
    kill: () => {
      child.kill('SIGKILL');
    },
  };
}
