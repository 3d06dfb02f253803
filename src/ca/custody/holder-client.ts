// SPDX-License-Identifier: Apache-2.0
/** The client of a key holder, which signs with a key that this process does not have. */
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { SignerError, messageOf } from '#base/errors.ts';
import type { Delay, Monotonic } from '#base/ports.ts';
import { membersOf } from '#base/record.ts';
import {
  PROBE_PATH,
  TOKEN_UNAVAILABLE,
  keyPath,
  signPath,
  type HolderPurpose,
} from '../key-holder/protocol.ts';
import { exchange, type HolderAnswer, type HolderRequest } from './holder-exchange.ts';

/** The public facts of a key, as its holder describes it. */
export interface HeldKeyFacts {
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly signerNames: readonly string[];
  /** End of the CA's certificate in the holder, in milliseconds since 1970. */
  readonly notAfter: number | undefined;
}

/** Receives what a client finds out about its holder. */
export interface HolderObserver {
  /** Called when the holder starts to answer (undefined), and when it stops. */
  readonly answers: (fault: string | undefined) => void;
  /** Called after each signature, with the seconds that it took. */
  readonly signed: (seconds: number) => void;
  /** Called after each refusal, with the name of the rule. */
  readonly refused: (reason: string) => void;
}

/** A key holder at the end of a Unix socket. */
export interface KeyHolder {
  /**
   * Returns the public facts of a key, which it keeps until the connection ends, or the next probe.
   *
   * @throws SignerError KEY_HOLDER_UNAVAILABLE or KEY_HOLDER_TOKEN_UNAVAILABLE (`authority`), or
   *   KEY_HOLDER_REFUSED (`wait`)
   */
  readonly describe: (key: string) => Promise<HeldKeyFacts>;
  /**
   * Signs to-be-signed bytes. Sends the same bytes again if the answer is lost, so that a
   * repetition makes no second certificate.
   *
   * @throws SignerError as `describe`
   */
  readonly sign: (key: string, purpose: HolderPurpose, tbs: Uint8Array) => Promise<Uint8Array>;
  /**
   * Tests whether the holder answers, and connects to it. The next description of each key is new.
   *
   * @returns the reason that it does not
   */
  readonly probe: () => Promise<string | undefined>;
  /**
   * Adds a listener, called when the holder or the token of a key no longer answers, and when it
   * answers again.
   */
  readonly onChange: (listener: (fault: string | undefined) => void) => void;
  /** Ends the connection and the attempts to reach it. */
  readonly stop: () => void;
}

/** Dependencies of a client. */
export interface KeyHolderInit {
  /** Path of the socket. */
  readonly socket: string;
  readonly monotonic: Monotonic;
  readonly delay: Delay;
  readonly observer?: HolderObserver;
}

/** The limit of one attempt. A signature in memory takes a millisecond at most. */
const SIGN_ATTEMPT_MS = 5_000;
/** The time in which the client resends bytes: longer than the restart of a process. */
const RESEND_MS = 3_000;
/** The pause between two attempts to reach it. */
const RECONNECT_MS = 200;

interface ClientState extends KeyHolderInit {
  readonly listeners: ((fault: string | undefined) => void)[];
  readonly stopped: AbortController;
  session: ClientHttp2Session | undefined;
  /** Facts of keys, of this session only. */
  facts: Map<string, HeldKeyFacts>;
  /** Keys whose tokens cannot be used, with the reason. The client retries them. */
  readonly awayKeys: Map<string, SignerError>;
  /** The reason that it does not answer. Set while attempts to reach it run. */
  failure: SignerError | undefined;
  /** True after its first answer. */
  isKnown: boolean;
}

/** Creates a client. It connects on the first request, and again after a lost connection. */
export function createKeyHolder(init: KeyHolderInit): KeyHolder {
  const state: ClientState = {
    ...init,
    listeners: [],
    stopped: new AbortController(),
    session: undefined,
    facts: new Map(),
    awayKeys: new Map(),
    failure: undefined,
    isKnown: false,
  };
  return {
    describe: (key) => describe(state, key),
    sign: async (key, purpose, tbs) => {
      const path = signPath(key, purpose);
      const request = { method: 'POST', path, body: tbs, key } as const;
      const began = state.monotonic();
      const signature = answered(state, await send(state, request));
      state.observer?.signed((state.monotonic() - began) / 1000);
      return signature;
    },
    probe: async () => {
      state.facts = new Map();
      try {
        await send(state, { method: 'GET', path: PROBE_PATH });
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
    onChange: (listener) => {
      state.listeners.push(listener);
    },
    stop: () => {
      state.stopped.abort();
      state.session?.destroy();
    },
  };
}

async function describe(state: ClientState, key: string): Promise<HeldKeyFacts> {
  const known = state.facts.get(key);
  if (known !== undefined) return known;
  const body = answered(state, await send(state, { method: 'GET', path: keyPath(key), key }));
  const facts = readDescription(body);
  state.facts.set(key, facts);
  return facts;
}

function readDescription(body: Buffer): HeldKeyFacts {
  try {
    const { publicKey, signerNames, notAfter } = membersOf(JSON.parse(body.toString('utf8')));
    if (typeof publicKey === 'string' && Array.isArray(signerNames)) {
      return {
        spki: Buffer.from(publicKey, 'base64'),
        signerNames: signerNames.filter((each): each is string => typeof each === 'string'),
        notAfter: typeof notAfter === 'number' ? notAfter : undefined,
      };
    }
  } catch {
    // It is reported below.
  }
  throw unavailable('its description of the key is invalid');
}

/** A request about a key, or about the holder itself. */
interface KeyRequest extends HolderRequest {
  readonly key?: string;
}

/** Sends a request until the holder answers or the time limit passes. */
async function send(state: ClientState, request: KeyRequest): Promise<HolderAnswer> {
  const { key = '' } = request;
  const failure = state.failure ?? state.awayKeys.get(key);
  if (failure !== undefined) throw failure;
  const until = state.monotonic() + RESEND_MS;
  for (;;) {
    try {
      return await attemptOnce(state, request);
    } catch (error) {
      if (state.monotonic() + RECONNECT_MS >= until || state.stopped.signal.aborted) {
        throw isTokenAway(error) ? failKey(state, key, error) : fail(state, error);
      }
      await state.delay(RECONNECT_MS, state.stopped.signal).catch(() => undefined);
    }
  }
}

/**
 * @throws Error if it does not answer in time, or is too busy. SignerError
 *   KEY_HOLDER_TOKEN_UNAVAILABLE (`authority`) if the token of the key cannot be used.
 */
async function attemptOnce(state: ClientState, request: HolderRequest): Promise<HolderAnswer> {
  const signal = AbortSignal.timeout(SIGN_ATTEMPT_MS);
  const answer = await exchange(sessionOf(state), request, signal);
  if (answer.status !== 429 && answer.status < 500) {
    if (!state.isKnown) state.observer?.answers(undefined);
    state.isKnown = true;
    return answer;
  }
  if (textIn(answer.body, 'reason') === TOKEN_UNAVAILABLE) {
    throw new SignerError({
      code: 'KEY_HOLDER_TOKEN_UNAVAILABLE',
      disposition: 'authority',
      message: `the key holder cannot use the token of the key: ${messageIn(answer.body)}`,
    });
  }
  throw new Error(messageIn(answer.body));
}

function isTokenAway(error: unknown): error is SignerError {
  return error instanceof SignerError && error.code === 'KEY_HOLDER_TOKEN_UNAVAILABLE';
}

function sessionOf(state: ClientState): ClientHttp2Session {
  const { session: open } = state;
  if (open !== undefined && !open.closed && !open.destroyed) return open;
  const session = connectHttp2('http://key-holder', {
    createConnection: () => connectSocket(state.socket),
  });
  const ended = (): void => {
    if (state.session === session) state.session = undefined;
  };
  // Each request reports the error of its session.
  session.on('error', ended);
  session.on('close', ended);
  session.on('goaway', ended);
  state.session = session;
  state.facts = new Map();
  return session;
}

/** Records that it does not answer, and tries to reach it until it does. */
function fail(state: ClientState, cause: unknown): SignerError {
  const failure = unavailable(`${state.socket}: ${messageOf(cause)}`, cause);
  if (state.failure === undefined && !state.stopped.signal.aborted) {
    state.failure = failure;
    state.session?.destroy();
    tell(state, failure.message);
    void recover(state);
  }
  return failure;
}

/** Records that the token of a key cannot be used, and tries the key until it can. */
function failKey(state: ClientState, key: string, failure: SignerError): SignerError {
  if (!state.awayKeys.has(key) && !state.stopped.signal.aborted) {
    state.awayKeys.set(key, failure);
    for (const listener of state.listeners) listener(failure.message);
    void recoverKey(state, key);
  }
  return failure;
}

async function recoverKey(state: ClientState, key: string): Promise<void> {
  const { stopped, delay, awayKeys } = state;
  for (;;) {
    await delay(RECONNECT_MS, stopped.signal).catch(() => undefined);
    if (stopped.signal.aborted) return;
    try {
      await attemptOnce(state, { method: 'GET', path: keyPath(key) });
      break;
    } catch (error) {
      // The message of the token may have changed.
      if (isTokenAway(error)) awayKeys.set(key, error);
    }
  }
  awayKeys.delete(key);
  for (const listener of state.listeners) listener(undefined);
}

async function recover(state: ClientState): Promise<void> {
  const { stopped, delay } = state;
  for (;;) {
    await delay(RECONNECT_MS, stopped.signal).catch(() => undefined);
    // A connection that is opened after the end would keep the process running.
    if (stopped.signal.aborted) return;
    if (await isAnswering(state)) break;
  }
  state.failure = undefined;
  tell(state, undefined);
}

async function isAnswering(state: ClientState): Promise<boolean> {
  try {
    // Any answer shows that the holder runs.
    await attemptOnce(state, { method: 'GET', path: PROBE_PATH });
    return true;
  } catch {
    return false;
  }
}

function tell({ observer, listeners }: ClientState, fault: string | undefined): void {
  observer?.answers(fault);
  for (const listener of listeners) listener(fault);
}

/** Returns the body of a positive answer. @throws SignerError KEY_HOLDER_REFUSED (`wait`) */
function answered({ observer }: ClientState, { status, body }: HolderAnswer): Buffer {
  if (status === 200) return body;
  observer?.refused(textIn(body, 'reason') ?? 'unknown');
  const message = `the key holder refused the request: ${messageIn(body)}`;
  throw new SignerError({ code: 'KEY_HOLDER_REFUSED', disposition: 'wait', message });
}

/** The limit of a holder's text in a message. */
const MAX_HOLDER_MESSAGE = 500;

function messageIn(body: Buffer): string {
  return textIn(body, 'message') ?? 'its answer is invalid';
}

/** Returns a member of an answer in JSON, or undefined if the answer has no such text. */
function textIn(body: Buffer, member: 'message' | 'reason'): string | undefined {
  try {
    const text = membersOf(JSON.parse(body.toString('utf8')))[member];
    return typeof text === 'string' ? text.slice(0, MAX_HOLDER_MESSAGE) : undefined;
  } catch {
    return undefined;
  }
}

function unavailable(why: string, cause?: unknown): SignerError {
  const message = `the key holder of the CA does not answer: ${why}`;
  return new SignerError({
    code: 'KEY_HOLDER_UNAVAILABLE',
    disposition: 'authority',
    message,
    cause,
  });
}
