// SPDX-License-Identifier: Apache-2.0
/** PKCS#11 by the native addon: the calls of a key holder, and the meaning of errors. */
import { messageOf } from '#base/errors.ts';
import { TokenFault, type KeyReference } from './orders.ts';

/** A handle of a slot, a session or an object. */
type Handle = Buffer;

interface Attribute {
  readonly type: number;
  readonly value?: Buffer | number | boolean;
}

/** The parts of pkcs11js's native class that the key holder calls. */
export interface Cryptoki {
  readonly load: (module: string) => void;
  readonly C_Initialize: (options: { readonly flags: number }) => void;
  readonly C_GetSlotList: (tokenPresent: boolean) => readonly Handle[];
  readonly C_GetTokenInfo: (slot: Handle) => { readonly label: string; readonly flags: number };
  readonly C_OpenSession: (slot: Handle, flags: number) => Handle;
  readonly C_GetSessionInfo: (session: Handle) => { readonly state: number };
  readonly C_Login: (session: Handle, user: number, pin: string) => void;
  readonly C_FindObjectsInit: (session: Handle, template: readonly Attribute[]) => void;
  readonly C_FindObjects: (session: Handle, max: number) => readonly Handle[];
  readonly C_FindObjectsFinal: (session: Handle) => void;
  readonly C_GetAttributeValue: (
    session: Handle,
    object: Handle,
    template: readonly Attribute[],
  ) => readonly { readonly value: Buffer }[];
  readonly C_SignInit: (
    session: Handle,
    mechanism: { readonly mechanism: number },
    key: Handle,
  ) => void;
  readonly C_SignCallback: (
    session: Handle,
    data: Buffer,
    output: Buffer,
    done: (error: Error | null, length: number) => void,
  ) => void;
}

// Values of PKCS#11 v2.40 (pkcs11t.h).
const CKF_OS_LOCKING_OK = 0x2;
const CKF_SERIAL_SESSION = 0x4;
const CKF_LOGIN_REQUIRED = 0x4;
const CKF_USER_PIN_FINAL_TRY = 0x2_0000;
const CKF_USER_PIN_LOCKED = 0x4_0000;
const CKU_USER = 1;
const CKS_RO_USER_FUNCTIONS = 1;
const CKO_PRIVATE_KEY = 3;
const CKA_CLASS = 0x0;
const CKA_TOKEN = 0x1;
const CKA_LABEL = 0x3;
const CKA_ID = 0x102;
const CKA_EXTRACTABLE = 0x162;
const MECHANISMS = { ecdsa: 0x1041, rsa: 0x40 } as const;
/** An RSA signature of 16,384 bits. */
const MAX_SIGNATURE = 2048;
/** Signatures of one token at once: as many threads as Node has for native work. */
const MAX_TOKEN_SESSIONS = 4;

/**
 * Errors of a login that compared no PIN. After any other, a further attempt may lock the token:
 * vendors also report a wrong PIN as CKR_FUNCTION_FAILED or by a code of their own.
 */
const NO_PIN_COMPARED =
  /^CKR_(?:TOKEN_NOT_PRESENT|DEVICE_REMOVED|SESSION_\w+|USER_ALREADY_LOGGED_IN)$/;
/** Errors of one key. Others are errors of the token, its session or its module. */
const KEY_ERRORS =
  /^CKR_(?:KEY_(?:HANDLE_INVALID|TYPE_INCONSISTENT|FUNCTION_NOT_PERMITTED|SIZE_RANGE)|OBJECT_HANDLE_INVALID|MECHANISM_(?:PARAM_)?INVALID)$/;

/** A token that is open, with the handles of the keys that were found. */
export interface OpenToken {
  readonly cryptoki: Cryptoki;
  /** Sessions that no signature uses. */
  readonly free: Handle[];
  readonly waiting: ((session: Handle) => void)[];
  /** The session of searches and tests. It signs nothing. */
  readonly session: Handle;
  /** Flags of the token before the login. */
  readonly flags: number;
  readonly keys: Map<string, Handle>;
}

/** Loads the addon. @throws TokenFault */
export function loadAddon(path: string): Cryptoki {
  const loaded: { exports: { PKCS11?: new () => Cryptoki } } = { exports: {} };
  try {
    process.dlopen(loaded, path);
  } catch (error) {
    throw new TokenFault(`the PKCS#11 addon cannot be loaded: ${firstLine(error)}`, 'token');
  }
  const { PKCS11 } = loaded.exports;
  if (PKCS11 === undefined) throw new TokenFault(`${path} is not the PKCS#11 addon`, 'token');
  return new PKCS11();
}

/** Opens the token with a label. @throws TokenFault */
export function openToken(
  cryptoki: Cryptoki,
  { module, token }: { readonly module: string; readonly token: string },
): OpenToken {
  try {
    cryptoki.load(module);
  } catch (error) {
    throw new TokenFault(`the module cannot be loaded: ${firstLine(error)}`, 'token');
  }
  return calling(() => {
    cryptoki.C_Initialize({ flags: CKF_OS_LOCKING_OK });
    const { slot, flags } = slotOf(cryptoki, token);
    const open = (): Handle => cryptoki.C_OpenSession(slot, CKF_SERIAL_SESSION);
    const session = open();
    const free = [open()];
    // A token may allow fewer sessions.
    try {
      while (free.length < MAX_TOKEN_SESSIONS) free.push(open());
    } catch {
      // Signatures wait for the sessions that there are.
    }
    return { cryptoki, session, flags, free, waiting: [], keys: new Map() };
  });
}

function slotOf(
  cryptoki: Cryptoki,
  token: string,
): { readonly slot: Handle; readonly flags: number } {
  const labels: string[] = [];
  const found = cryptoki.C_GetSlotList(true).flatMap((slot) => {
    const { label, flags } = cryptoki.C_GetTokenInfo(slot);
    labels.push(label.trimEnd());
    return label.trimEnd() === token ? [{ slot, flags }] : [];
  });
  const [first, second] = found;
  if (first === undefined) {
    const others = labels.filter((each) => each !== '').slice(0, 8);
    throw new TokenFault(
      others.length === 0
        ? 'the module has no token'
        : `the module has no token of this label; it has ${others.join(', ')}`,
      'token',
    );
  }
  if (second !== undefined)
    throw new TokenFault('the module has several tokens of this label', 'token');
  return first;
}

/** Logs in all sessions, if the token requires it. @throws TokenFault */
export function logIn({ cryptoki, session, flags }: OpenToken, pin: string): void {
  if (!requiresLogin(flags)) return;
  if ((flags & CKF_USER_PIN_LOCKED) !== 0)
    throw new TokenFault('its PIN is locked; unlock it with a tool of the vendor', 'pin');
  // A wrong PIN in the last attempt would lock the token.
  if ((flags & CKF_USER_PIN_FINAL_TRY) !== 0) {
    const advice =
      'log in with the right PIN by a tool of the vendor, write it to pinFile, and restart the holder';
    throw new TokenFault(`one attempt with a PIN is left before it locks; ${advice}`, 'pin');
  }
  try {
    cryptoki.C_Login(session, CKU_USER, pin);
  } catch (error) {
    const { message } = faultOf(error);
    throw new TokenFault(message, NO_PIN_COMPARED.test(message) ? 'token' : 'pin');
  }
}

function requiresLogin(flags: number): boolean {
  return (flags & CKF_LOGIN_REQUIRED) !== 0;
}

/** Finds the one private key of a reference. @throws TokenFault */
export function findKey(
  { cryptoki, session, keys }: OpenToken,
  name: string,
  { label, id }: KeyReference,
): { readonly isExtractable: boolean } {
  return calling(() => {
    keys.delete(name);
    cryptoki.C_FindObjectsInit(session, [
      { type: CKA_CLASS, value: CKO_PRIVATE_KEY },
      { type: CKA_TOKEN, value: true },
      ...(label === undefined ? [] : [{ type: CKA_LABEL, value: Buffer.from(label) }]),
      ...(id === undefined ? [] : [{ type: CKA_ID, value: Buffer.from(id, 'hex') }]),
    ]);
    const found = objects(cryptoki, session);
    const [first] = found;
    if (first === undefined) throw new TokenFault('the token has no such private key', 'key');
    if (found.length > 1) {
      throw new TokenFault(
        'the token has several private keys that match; set both label and id',
        'key',
      );
    }
    keys.set(name, first);
    return { isExtractable: mayBeExtracted(cryptoki, session, first) };
  });
}

/** Reports whether a token may let a key out: without the attribute, this is unknown. */
function mayBeExtracted(cryptoki: Cryptoki, session: Handle, key: Handle): boolean {
  try {
    const [found] = cryptoki.C_GetAttributeValue(session, key, [{ type: CKA_EXTRACTABLE }]);
    return found?.value[0] !== 0;
  } catch (error) {
    if (faultOf(error).message === 'CKR_ATTRIBUTE_TYPE_INVALID') return true;
    throw error;
  }
}

function objects(cryptoki: Cryptoki, session: Handle): readonly Handle[] {
  try {
    return cryptoki.C_FindObjects(session, 2);
  } finally {
    cryptoki.C_FindObjectsFinal(session);
  }
}

/** Signs with a key that was found. @throws TokenFault */
export async function signWith(
  token: OpenToken,
  name: string,
  { mechanism, data }: { readonly mechanism: keyof typeof MECHANISMS; readonly data: Uint8Array },
): Promise<Uint8Array> {
  const { cryptoki, keys } = token;
  const session = await sessionOf(token);
  try {
    const key = keys.get(name);
    if (key === undefined) throw new TokenFault('the key was not found', 'key');
    calling(() => {
      cryptoki.C_SignInit(session, { mechanism: MECHANISMS[mechanism] }, key);
    });
    return await new Promise<Uint8Array>((resolve, reject) => {
      const output = Buffer.alloc(MAX_SIGNATURE);
      cryptoki.C_SignCallback(session, Buffer.from(data), output, (error, length) => {
        if (error === null) resolve(output.subarray(0, length));
        else reject(faultOf(error));
      });
    });
  } finally {
    const next = token.waiting.shift();
    if (next === undefined) token.free.push(session);
    else next(session);
  }
}

function sessionOf({ free, waiting }: OpenToken): Promise<Handle> {
  const session = free.pop();
  if (session !== undefined) return Promise.resolve(session);
  return new Promise((resolve) => waiting.push(resolve));
}

/** Tests whether the session exists and is still logged in. @throws TokenFault */
export function lookAt({ cryptoki, session, flags }: OpenToken): void {
  const { state } = calling(() => cryptoki.C_GetSessionInfo(session));
  if (requiresLogin(flags) && state !== CKS_RO_USER_FUNCTIONS) {
    throw new TokenFault('the session is no longer logged in', 'token');
  }
}

function calling<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw error instanceof TokenFault ? error : faultOf(error);
  }
}

/** Returns the fault of a native error, by its name only: the other text is the vendor's. */
function faultOf(error: unknown): TokenFault {
  const [name = 'an unknown error'] = /CKR_\w+/.exec(messageOf(error)) ?? [];
  return new TokenFault(name, KEY_ERRORS.test(name) ? 'key' : 'token');
}

function firstLine(error: unknown): string {
  return (messageOf(error).split('\n')[0] ?? '').slice(0, 300);
}
