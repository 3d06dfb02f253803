// SPDX-License-Identifier: Apache-2.0
/**
 * The process of one token. The module of a vendor runs here, so that a call that hangs or
 * crashes affects this process only.
 */
import {
  findKey,
  loadAddon,
  logIn,
  lookAt,
  openToken,
  signWith,
  type OpenToken,
} from './cryptoki.ts';
import {
  TokenFault,
  type OpenedToken,
  type TokenOrder,
  type TokenReply,
  type TokenRequest,
} from './orders.ts';

/** Answers orders by IPC until the key holder ends. */
export function serveToken(): void {
  const state: { token: OpenToken | undefined } = { token: undefined };
  process.on('disconnect', () => {
    process.exit(0);
  });
  process.on('message', (request: TokenRequest) => {
    void answer(state, request).then((reply) => process.send?.(reply));
  });
  // The key holder handles signals, and ends this process after its last answer.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
}

async function answer(
  state: { token: OpenToken | undefined },
  { id, order }: TokenRequest,
): Promise<TokenReply> {
  try {
    return { id, value: await obey(state, order) };
  } catch (error) {
    const { message, scope } =
      error instanceof TokenFault ? error : new TokenFault('an unexpected error', 'token');
    return { id, fault: message, scope: scope === 'busy' || scope === 'process' ? 'token' : scope };
  }
}

function obey(state: { token: OpenToken | undefined }, order: TokenOrder): unknown {
  if (order.op === 'open') {
    state.token = openToken(loadAddon(order.addon), order);
    return { sessions: state.token.free.length } satisfies OpenedToken;
  }
  const { token } = state;
  if (token === undefined) throw new TokenFault('the token is not open', 'token');
  if (order.op === 'login') {
    logIn(token, order.pin);
    return undefined;
  }
  if (order.op === 'find') return findKey(token, order.name, order.key);
  if (order.op === 'sign') return signWith(token, order.name, order);
  lookAt(token);
  return undefined;
}
