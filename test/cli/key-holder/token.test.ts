// SPDX-License-Identifier: Apache-2.0
/** How a key holder keeps a token open, whose process is played here. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignerError, usageError } from '#base/errors.ts';
import type { TokenChild } from '#cli/commands/key-holder/token/child.ts';
import {
  findKey,
  logIn,
  type Cryptoki,
  type OpenToken,
} from '#cli/commands/key-holder/token/cryptoki.ts';
import { TokenFault, type TokenOrder } from '#cli/commands/key-holder/token/orders.ts';
import { keepTokenOpen, type Token, type TokenKey } from '#cli/commands/key-holder/token/token.ts';
import { recordedLog } from '../../support/component/recorded-log.ts';

const PIN = '1234-5678';
const SESSIONS = 4;
const MESSAGE = Buffer.from('to be signed');

/** What the token does with an order. It throws a TokenFault, or answers. */
let play: (order: TokenOrder) => unknown;
let pin = PIN;
let started: { orders: TokenOrder[]; kill: (why?: string) => void }[] = [];
let writableByOthers: string | undefined;
let token: Token | undefined;

beforeEach(() => {
  play = answer;
  pin = `${PIN}\n`;
  started = [];
  writableByOthers = undefined;
});
afterEach(() => {
  token?.stop();
});

function answer(order: TokenOrder): unknown {
  if (order.op === 'open') return { sessions: SESSIONS };
  if (order.op === 'find') return { isExtractable: false };
  return order.op === 'sign' ? Buffer.concat([Buffer.from(order.name), order.data]) : undefined;
}

function startChild(): TokenChild {
  const ended = Promise.withResolvers<string>();
  const orders: TokenOrder[] = [];
  const kill = (why = 'the process of its module ended (SIGKILL)'): void => {
    ended.resolve(why);
  };
  started.push({ orders, kill });
  const order = (given: TokenOrder): Promise<unknown> => {
    orders.push(given);
    return Promise.race([
      new Promise((resolve) => {
        resolve(play(given));
      }),
      ended.promise.then((why) => Promise.reject(new TokenFault(why, 'process'))),
    ]);
  };
  return { order, ended: ended.promise, kill };
}

const keyOf = (name: string): TokenKey => ({
  name,
  reference: { label: name },
  mechanism: 'rsa',
  prepare: (message) => message,
  isSignature: (_, signature) => Buffer.from(signature).toString().startsWith(name),
});

let log = recordedLog();

async function open(...names: readonly string[]): Promise<Token> {
  token = keepTokenOpen({
    place: { module: '/module.so', token: 'ca', pinFile: '/pin' },
    addon: '/addon.node',
    keys: names.map(keyOf),
    start: startChild,
    readPin: () => Promise.resolve(pin),
    checkCode: (path) =>
      path === writableByOthers
        ? Promise.reject(usageError(`other users may write ${path}`))
        : Promise.resolve(),
    // Pauses are short, and looks never come too late.
    delay: async (ms, signal) => {
      await sleep(ms / 50, undefined, signal === undefined ? {} : { signal });
    },
    log,
  });
  await token.attempted;
  return token;
}

const away =
  (says: RegExp) =>
  (error: unknown): boolean =>
    error instanceof SignerError &&
    error.code === 'KEY_HOLDER_TOKEN_UNAVAILABLE' &&
    says.test(error.message) &&
    !error.message.includes(PIN);

/** Resolves when a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(2);
}

test('a key signs after it has proved that it is the one of its certificate', async () => {
  const opened = await open('one', 'two');
  assert.equal(opened.faultOf('one'), undefined);
  assert.match(Buffer.from(await opened.sign('two', MESSAGE)).toString(), /^two/);
  // The line end of the file is no part of the PIN.
  const [first] = started;
  assert.equal(first?.orders.find((each) => each.op === 'login')?.pin, PIN);
});

test('another key in the place of one signs nothing, and the others go on', async () => {
  play = (order) =>
    order.op === 'sign' && order.name === 'one' ? Buffer.from('other') : answer(order);
  const opened = await open('one', 'two');
  await assert.rejects(
    opened.sign('one', MESSAGE),
    away(/token ca: its key of this label or id is not the key of the certificate/),
  );
  await opened.sign('two', MESSAGE);
  // It is looked for again, in the same process.
  play = answer;
  await until(() => opened.faultOf('one') === undefined);
  assert.equal(started.length, 1);
});

test('a rejected PIN is not tried again before its file changes', async () => {
  play = (order) => {
    if (order.op === 'login' && order.pin === PIN) throw new TokenFault('CKR_PIN_INCORRECT', 'pin');
    return answer(order);
  };
  const opened = await open('one');
  await assert.rejects(
    opened.sign('one', MESSAGE),
    away(/CKR_PIN_INCORRECT; the next attempt is when pinFile changes/),
  );
  await sleep(200);
  assert.equal(started.length, 1);
  pin = 'another';
  await until(() => opened.faultOf('one') === undefined);
  assert.equal(started.length, 2);
});

test('a fault of the session has a new process open the token, and is the reason', async () => {
  const opened = await open('one');
  play = (order) => {
    if (order.op === 'sign') throw new TokenFault('CKR_SESSION_HANDLE_INVALID', 'token');
    return answer(order);
  };
  const both = [opened.sign('one', MESSAGE), opened.sign('one', MESSAGE)];
  for (const each of both) await assert.rejects(each, away(/token ca: CKR_SESSION_HANDLE_INVALID/));
  play = answer;
  await until(() => opened.faultOf('one') === undefined);
  await opened.sign('one', MESSAGE);
  assert.ok(started.length >= 2);
});

test('a process that ends is replaced, and what it had is rejected with the reason', async () => {
  const opened = await open('one');
  play = (order) => (order.op === 'sign' ? new Promise(() => undefined) : answer(order));
  const waiting = opened.sign('one', MESSAGE);
  started[0]?.kill('the process of its module ended (SIGSEGV)');
  await assert.rejects(waiting, away(/SIGSEGV/));
  play = answer;
  await until(() => opened.faultOf('one') === undefined);
  await opened.sign('one', MESSAGE);
});

test('a session that lost its login is found out without a signature', async () => {
  const opened = await open('one');
  play = (order) => {
    if (order.op === 'look') throw new TokenFault('the session is no longer logged in', 'token');
    return answer(order);
  };
  await until(() => started.length === 2);
  play = answer;
  await until(() => opened.faultOf('one') === undefined);
});

for (const file of ['/module.so', '/addon.node']) {
  test(`${file} is not loaded if others may write it`, async () => {
    writableByOthers = file;
    const opened = await open('one');
    assert.equal(started.length, 0);
    await assert.rejects(opened.sign('one', MESSAGE), away(/other users may write/));
  });
}

test('a key that leaves its token is named in the log once', async () => {
  play = (order) => (order.op === 'find' ? { isExtractable: true } : answer(order));
  log = recordedLog();
  await open('one');
  started[0]?.kill();
  await until(() => started.length === 2);
  const named = log.lines.filter((line) => JSON.stringify(line).includes('CKA_EXTRACTABLE'));
  assert.equal(named.length, 1);
});

/** Has the token answer orders to sign when they are released. */
function signLater(): { readonly held: (() => void)[] } {
  const held: (() => void)[] = [];
  play = (order) =>
    order.op === 'sign'
      ? new Promise((resolve) => {
          held.push(() => {
            resolve(answer(order));
          });
        })
      : answer(order);
  return { held };
}

test('a token that signs slowly is not restarted, however many requests wait', async () => {
  const opened = await open('one');
  const { held } = signLater();
  const all = Array.from({ length: 64 }, () => opened.sign('one', MESSAGE).catch(() => 'busy'));
  let begun = 0;
  const answered = new Set<unknown>();
  for (const each of all) void each.then(() => answered.add(each));
  // The limit of an order runs once the process has it. So it has what its sessions can begin.
  while (answered.size < all.length) {
    assert.ok(held.length <= SESSIONS, `the process has ${held.length} orders to sign`);
    const release = held.shift();
    if (release !== undefined) begun += 1;
    release?.();
    await sleep(1);
  }
  assert.ok(begun >= SESSIONS);
  assert.equal(opened.faultOf('one'), undefined);
  assert.equal(started.length, 1);
});

test('a request that waits too long for a slow token is answered that it is busy', async () => {
  const opened = await open('one');
  const { held } = signLater();
  const begun = Array.from({ length: SESSIONS }, () => opened.sign('one', MESSAGE));
  await assert.rejects(
    opened.sign('one', MESSAGE),
    away(/token ca: busy: its module could not begin a signature within 2\.5 s/),
  );
  // Its place was not used up, and neither the token nor the key has a fault.
  assert.equal(opened.faultOf('one'), undefined);
  for (const release of held.splice(0)) release();
  await Promise.all(begun);
  play = answer;
  await Promise.all(Array.from({ length: 2 * SESSIONS }, () => opened.sign('one', MESSAGE)));
  assert.equal(started.length, 1);
});

test('requests that wait when the process ends are rejected with its reason', async () => {
  const opened = await open('one');
  signLater();
  const all = Array.from({ length: 2 * SESSIONS }, () => opened.sign('one', MESSAGE));
  started[0]?.kill('the process of its module ended (SIGSEGV)');
  for (const each of all) await assert.rejects(each, away(/SIGSEGV/));
  play = answer;
  await until(() => opened.faultOf('one') === undefined);
  await opened.sign('one', MESSAGE);
});

test('a process that reports an impossible number of sessions is not used', async () => {
  play = (order) => (order.op === 'open' ? { sessions: 0 } : answer(order));
  const opened = await open('one');
  await assert.rejects(opened.sign('one', MESSAGE), away(/its process gave an invalid answer/));
});

/** Ways in which a login fails without CKR_PIN_INCORRECT. */
const FAILED_LOGINS: readonly (readonly [what: string, login: () => unknown])[] = [
  ...[
    'CKR_PIN_LOCKED',
    'CKR_ARGUMENTS_BAD',
    'CKR_FUNCTION_FAILED',
    'CKR_GENERAL_ERROR',
    'CKR_DEVICE_ERROR',
    'CKR_VENDOR_DEFINED',
    'an unknown code',
  ].map((code) => [code, (): unknown => failLogin(code)] as const),
  [
    'a hang, after which it is killed',
    () => {
      started.at(-1)?.kill('its module did not answer within 30 s');
      return new Promise(() => undefined);
    },
  ],
  [
    'a crash',
    () => {
      started.at(-1)?.kill('the process of its module ended (SIGSEGV)');
      return new Promise(() => undefined);
    },
  ],
];

function failLogin(code: string): void {
  const login: Pick<Cryptoki, 'C_Login'> = {
    C_Login: () => {
      throw new Error(`${code}:5 C_Login`);
    },
  };
  // The token requires a login, and is not near its lock.
  const opened = { cryptoki: login, session: Buffer.from('s'), flags: 0x4 };
  logIn(opened as unknown as OpenToken, PIN);
}

for (const [what, login] of FAILED_LOGINS) {
  test(`no failure of a login has the same PIN tried twice: ${what}`, async () => {
    play = (order) => (order.op === 'login' && order.pin === PIN ? login() : answer(order));
    const opened = await open('one');
    await sleep(100);
    assert.equal(started.length, 1);
    await assert.rejects(
      opened.sign('one', MESSAGE),
      away(/the next attempt is when pinFile changes/),
    );
    pin = 'another';
    await until(() => opened.faultOf('one') === undefined);
  });
}

for (const code of ['CKR_TOKEN_NOT_PRESENT', 'CKR_DEVICE_REMOVED', 'CKR_SESSION_CLOSED']) {
  test(`a login that compared no PIN is tried again: ${code}`, async () => {
    play = (order) => (order.op === 'login' ? failLogin(code) : answer(order));
    const opened = await open('one');
    play = answer;
    await until(() => opened.faultOf('one') === undefined);
  });
}

test('a key whose token does not say whether it lets it out is found', () => {
  const cryptoki: Partial<Cryptoki> = {
    C_FindObjectsInit: () => undefined,
    C_FindObjects: () => [Buffer.from('key')],
    C_FindObjectsFinal: () => undefined,
    C_GetAttributeValue: () => {
      throw new Error('CKR_ATTRIBUTE_TYPE_INVALID:18 C_GetAttributeValue');
    },
  };
  const opened = { cryptoki, session: Buffer.from('s'), keys: new Map() };
  const found = findKey(opened as unknown as OpenToken, 'one', { label: 'one' });
  // The log warns of it, as of a key that the token lets out.
  assert.deepEqual(found, { isExtractable: true });
});
