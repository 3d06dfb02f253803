// SPDX-License-Identifier: Apache-2.0
/** Keeps a PKCS#11 token open: starts its process, finds its keys, and restarts it after faults. */
import { createHash, randomBytes } from 'node:crypto';
import { SignerError, messageOf } from '#base/errors.ts';
import type { Delay, Log } from '#base/ports.ts';
import { membersOf } from '#base/record.ts';
import { passwordIn } from '#cli/secret-file.ts';
import type { StartTokenChild, TokenChild } from './child.ts';
import { TokenFault, type KeyReference } from './orders.ts';
import { createSigningQueue, type SigningQueue } from './signing-queue.ts';

/** The place of a token. */
export interface TokenPlace {
  readonly module: string;
  /** Its label. */
  readonly token: string;
  readonly pinFile: string;
}

/** A key in a token. */
export interface TokenKey {
  readonly name: string;
  readonly reference: KeyReference;
  readonly mechanism: 'ecdsa' | 'rsa';
  /** Returns the data that the token signs for a message: for ECDSA, the hash. */
  readonly prepare: (message: Uint8Array) => Uint8Array;
  /** Reports whether a signature of the token is by the key of the CA certificate. */
  readonly isSignature: (message: Uint8Array, signature: Uint8Array) => boolean;
}

/** Dependencies of keeping a token open. */
export interface TokenKeeperInit {
  readonly place: TokenPlace;
  /** The native addon. */
  readonly addon: string;
  readonly keys: readonly TokenKey[];
  readonly start: StartTokenChild;
  /** Reads a file that no other user may read. Throws its fault. */
  readonly readPin: (path: string) => Promise<string>;
  /** Checks that no other user may replace a file with code. Throws its fault. */
  readonly checkCode: (path: string) => Promise<void>;
  readonly delay: Delay;
  readonly log: Log;
}

/** A token that is kept open. */
export interface Token {
  /**
   * Signs with a key of the token.
   *
   * @throws SignerError KEY_HOLDER_TOKEN_UNAVAILABLE (`authority`)
   */
  readonly sign: (key: string, message: Uint8Array) => Promise<Uint8Array>;
  /** Returns why a key cannot sign now, or undefined. */
  readonly faultOf: (key: string) => string | undefined;
  /** Resolves after the first attempt to open it. */
  readonly attempted: Promise<void>;
  readonly stop: () => void;
}

/** Time limits of orders. The module of a network HSM may connect while it opens. */
const OPEN_MS = 30_000;
const FIND_MS = 10_000;
/** Less than the time after which a component sends its bytes again. */
const TOKEN_SIGN_MS = 4_000;
/** Leaves a slow module as long to sign in the time in which a component waits. */
const QUEUE_MS = 2_500;
/** The limit of sessions that a process may report. */
const MAX_REPORTED_SESSIONS = 64;
/** Time between two tests of the session. */
const TOKEN_LOOK_MS = 5_000;
/** First and longest pause before the next process. */
const FIRST_REOPEN_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** A process that opened its token, and the signatures that wait for it. */
interface OpenedChild {
  readonly child: TokenChild;
  readonly queue: SigningQueue;
}

interface TokenState extends TokenKeeperInit {
  readonly stopped: AbortController;
  readonly byName: ReadonlyMap<string, TokenKey>;
  /** Faults of single keys. */
  readonly keyFaults: Map<string, string>;
  /** Keys with a warning in the log. */
  readonly warned: Set<string>;
  child: TokenChild | undefined;
  /** The process, once it opened the token. */
  opened: OpenedChild | undefined;
  /** The fault of the whole token. */
  fault: string | undefined;
  /** Digest of a PIN that the token rejected. */
  rejectedPin: string | undefined;
}

/** Opens a token, and keeps it open until it is stopped. */
export function keepTokenOpen(init: TokenKeeperInit): Token {
  const state: TokenState = {
    ...init,
    stopped: new AbortController(),
    byName: new Map(init.keys.map((each) => [each.name, each])),
    keyFaults: new Map(),
    warned: new Set(),
    child: undefined,
    opened: undefined,
    fault: 'it is being opened',
    rejectedPin: undefined,
  };
  const attempted = Promise.withResolvers<undefined>();
  void run(state, () => {
    attempted.resolve(undefined);
  });
  return {
    sign: (key, message) => sign(state, key, message),
    faultOf: (key) => faultOf(state, key),
    attempted: attempted.promise,
    stop: () => {
      state.stopped.abort();
      state.child?.kill();
    },
  };
}

function faultOf({ place, fault, keyFaults }: TokenState, key: string): string | undefined {
  const found = fault ?? keyFaults.get(key);
  return found && `token ${place.token}: ${found}`;
}

async function sign(state: TokenState, name: string, message: Uint8Array): Promise<Uint8Array> {
  const { opened, byName } = state;
  const fault = faultOf(state, name);
  const key = byName.get(name);
  if (opened === undefined || key === undefined || fault !== undefined) {
    throw unavailable(fault ?? 'it is being opened');
  }
  try {
    return await opened.queue.run(() => signBy(opened.child, key, message), QUEUE_MS);
  } catch (error) {
    const { text, scope } = readFault(error);
    if (scope === 'key') noteKey(state, name, text);
    // A slow module keeps its process.
    else if (scope !== 'busy') endProcess(state, opened, text);
    throw unavailable(faultOf(state, name) ?? `token ${state.place.token}: ${text}`);
  }
}

/** Ends a process. The next one opens new sessions, and logs in again. */
function endProcess(state: TokenState, opened: OpenedChild, fault: string): void {
  if (state.opened !== opened) return;
  // The first fault is the cause.
  noteToken(state, state.fault ?? fault);
  opened.child.kill();
}

async function signBy(
  child: TokenChild,
  { name, mechanism, prepare }: TokenKey,
  message: Uint8Array,
): Promise<Uint8Array> {
  const order = { op: 'sign', name, mechanism, data: prepare(message) } as const;
  const signature = await child.order(order, TOKEN_SIGN_MS);
  if (signature instanceof Uint8Array) return signature;
  throw new TokenFault('its module gave no signature', 'token');
}

async function run(state: TokenState, attempted: () => void): Promise<void> {
  const { stopped, delay } = state;
  let pause = FIRST_REOPEN_MS;
  while (!stopped.signal.aborted) {
    const wasOpen = await live(state, attempted);
    attempted();
    if (wasOpen) pause = FIRST_REOPEN_MS;
    await delay(pause, stopped.signal).catch(() => undefined);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** Runs one process until it ends. Returns whether it opened the token. */
async function live(state: TokenState, attempted: () => void): Promise<boolean> {
  let wasOpen = false;
  let pin = '';
  try {
    pin = passwordIn(await state.readPin(state.place.pinFile));
    // Any attempt with a wrong PIN may lock the token.
    if (digestOf(pin) === state.rejectedPin) return false;
    await state.checkCode(state.place.module);
    await state.checkCode(state.addon);
    if (state.stopped.signal.aborted) return false;
    const child = state.start();
    state.child = child;
    const { module, token } = state.place;
    const order = { op: 'open', addon: state.addon, module, token } as const;
    const sessions = sessionsIn(await child.order(order, OPEN_MS));
    const opened = { child, queue: createSigningQueue(sessions, state.delay) };
    await logIn(child, pin);
    state.opened = opened;
    wasOpen = true;
    state.rejectedPin = undefined;
    await findKeys(state, opened, state.keys);
    noteToken(state, undefined);
    attempted();
    await watch(state, opened);
  } catch (error) {
    const { text, scope } = readFault(error);
    const cause = wasOpen ? (state.fault ?? text) : text;
    if (scope === 'pin') state.rejectedPin = digestOf(pin);
    noteToken(state, scope === 'pin' ? `${text}; the next attempt is when pinFile changes` : cause);
  } finally {
    state.child?.kill();
    state.child = undefined;
    state.opened = undefined;
  }
  return wasOpen;
}

/** @throws TokenFault */
async function logIn(child: TokenChild, pin: string): Promise<void> {
  try {
    await child.order({ op: 'login', pin }, OPEN_MS);
  } catch (error) {
    const { text, scope } = readFault(error);
    // A login without an answer may have used an attempt.
    throw new TokenFault(text, scope === 'process' ? 'pin' : scope);
  }
}

/** @throws TokenFault if a process reports another number of sessions than one can have */
function sessionsIn(opened: unknown): number {
  const { sessions } = membersOf(opened);
  const isNumber = typeof sessions === 'number' && Number.isInteger(sessions);
  if (isNumber && sessions >= 1 && sessions <= MAX_REPORTED_SESSIONS) return sessions;
  throw new TokenFault('its process gave an invalid answer', 'token');
}

/** Tests the session, and looks for keys that are missing, until the process ends. */
async function watch(state: TokenState, opened: OpenedChild): Promise<void> {
  const { child } = opened;
  const { stopped, delay } = state;
  let end: string | undefined;
  while (!stopped.signal.aborted) {
    const pause = new AbortController();
    const waited = delay(TOKEN_LOOK_MS, pause.signal).catch(() => undefined);
    end = await Promise.race([child.ended, waited.then(() => undefined)]);
    pause.abort();
    if (end !== undefined) throw new TokenFault(end, 'token');
    await child.order({ op: 'look' }, FIND_MS);
    await findKeys(
      state,
      opened,
      state.keys.filter(({ name }) => state.keyFaults.has(name)),
    );
  }
}

/** Finds keys, and has each prove that it is the key of its certificate. */
async function findKeys(
  state: TokenState,
  { child, queue }: OpenedChild,
  keys: readonly TokenKey[],
): Promise<void> {
  for (const key of keys) {
    try {
      const order = { op: 'find', name: key.name, key: key.reference } as const;
      const { isExtractable } = membersOf(await child.order(order, FIND_MS));
      // Without a limit: what waits before it either begins or stops waiting.
      await queue.run(() => requireProof(child, key));
      noteKey(state, key.name, undefined);
      if (isExtractable === true) warnOnce(state, key.name);
    } catch (error) {
      const { text, scope } = readFault(error);
      if (scope !== 'key') throw error;
      noteKey(state, key.name, text);
    }
  }
}

/**
 * Requires a signature that the key of the certificate made, so that no other key can take the
 * place of one with the same label. No document that a CA signs begins as the message does.
 */
async function requireProof(child: TokenChild, key: TokenKey): Promise<void> {
  const message = Buffer.from(`countersign key-holder: ${randomBytes(32).toString('hex')}`);
  if (key.isSignature(message, await signBy(child, key, message))) return;
  throw new TokenFault('its key of this label or id is not the key of the certificate', 'key');
}

function warnOnce({ warned, log }: TokenState, key: string): void {
  if (warned.has(key)) return;
  warned.add(key);
  log.warn(
    { key },
    'the key can be exported from its token, or the token does not say so (CKA_EXTRACTABLE); create one that cannot',
  );
}

function noteToken(state: TokenState, fault: string | undefined): void {
  // A process that was killed for a fault also reports its end.
  if (fault === state.fault || state.stopped.signal.aborted) return;
  state.fault = fault;
  const { token } = state.place;
  if (fault === undefined) state.log.info({ token }, 'token opened');
  else state.log.warn({ token, fault }, 'the token cannot be used; requests wait');
}

function noteKey(state: TokenState, key: string, fault: string | undefined): void {
  if (fault === state.keyFaults.get(key)) return;
  const { token } = state.place;
  if (fault === undefined) {
    state.keyFaults.delete(key);
    state.log.info({ token, key }, 'key found');
  } else {
    state.keyFaults.set(key, fault);
    state.log.warn({ token, key, fault }, 'the key cannot be used; requests wait');
  }
}

function readFault(error: unknown): {
  readonly text: string;
  readonly scope: TokenFault['scope'];
} {
  return error instanceof TokenFault
    ? { text: error.message, scope: error.scope }
    : { text: messageOf(error), scope: 'token' };
}

function unavailable(message: string): SignerError {
  return new SignerError({
    code: 'KEY_HOLDER_TOKEN_UNAVAILABLE',
    disposition: 'authority',
    message,
  });
}

/** A digest, so that the PIN itself is not kept. */
function digestOf(pin: string): string {
  return createHash('sha256').update(pin).digest('hex');
}
