// SPDX-License-Identifier: Apache-2.0
/** Judges and signs what arrives at one socket. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '#base/bounded-map.ts';
import type { Clock, Log, LogFields } from '#base/ports.ts';
import type { KeyUse } from '#ca/key-holder/configuration.ts';
import { judgeCrl, judgeLeaf } from '#ca/key-holder/judge.ts';
import type { HolderPurpose, SigningRefusal, KeyDescription } from '#ca/key-holder/protocol.ts';
import type { CrlNumbers } from './crl-numbers.ts';
import type { OpenKey } from './keys.ts';

/** A signature in progress, or the refusal. It rejects if a token is unavailable. */
export type SocketSignature =
  | { readonly signature: Promise<Uint8Array>; readonly refusal?: undefined }
  | { readonly refusal: SigningRefusal };

/** The public facts of a key. A key in a token cannot be used while it has a fault. */
export interface DescribedKey {
  readonly description: KeyDescription;
  readonly fault: string | undefined;
}

/** The signer of one socket. */
export interface SocketSigner {
  /** Returns the public facts of a key, or undefined if this socket does not have it. */
  readonly describe: (key: string) => DescribedKey | undefined;
  /** Judges the bytes at once, and begins the signature. */
  readonly sign: (key: string, purpose: HolderPurpose, tbs: Uint8Array) => SocketSignature;
}

/** Dependencies of the signer of one socket. */
export interface SocketSignerInit {
  readonly uses: readonly KeyUse[];
  readonly keys: ReadonlyMap<string, OpenKey>;
  /** The number of the last CRL of each key, over all sockets. */
  readonly numbers: CrlNumbers;
  readonly clock: Clock;
  readonly log: Log;
}

/** The time in which the same bytes get the signature that was made before. */
const REMEMBERED_MS = 60_000;
/** Signatures that are remembered. A holder makes thousands a second for some seconds at most. */
const MAX_REMEMBERED_SIGNATURES = 10_000;

interface CachedSignature {
  readonly at: number;
  /** Fields of its log line. */
  readonly fields: LogFields;
  /** Undefined if a token failed. The bytes stay accepted, and are signed when they come again. */
  signature: Promise<Uint8Array> | undefined;
}

/** Creates the signer of one socket. */
export function createSocketSigner(init: SocketSignerInit): SocketSigner {
  const { uses, keys, clock, log } = init;
  const useOf = new Map(uses.map((each) => [each.key, each]));
  const remembered = new BoundedMap<string, CachedSignature>(MAX_REMEMBERED_SIGNATURES);
  return {
    describe: (name) => {
      const [use, held] = [useOf.get(name), keys.get(name)];
      if (use === undefined || held === undefined) return undefined;
      return { description: describe(use, held), fault: held.faultOf() };
    },
    sign: (name, purpose, tbs) => {
      const [use, held] = [useOf.get(name), keys.get(name)];
      if (use === undefined || held === undefined) {
        return refused(log, name, { reason: 'key', message: `this socket has no key ${name}` });
      }
      const digest = createHash('sha256').update(`${name}/${purpose}/`).update(tbs).digest('hex');
      const before = remembered.get(digest);
      // A component whose answer was lost sends the same bytes again.
      const isKnown = before !== undefined && clock() - before.at < REMEMBERED_MS;
      if (isKnown && before.signature !== undefined) return { signature: before.signature };
      if (isKnown) return { signature: begin(log, before, { held, purpose, tbs }) };
      const found = accepted(init, purpose, { use, held, tbs });
      if (found.refusal !== undefined) return refused(log, name, found.refusal);
      const entry = { at: clock(), fields: found.fields, signature: undefined };
      remembered.set(digest, entry);
      return { signature: begin(log, entry, { held, purpose, tbs }) };
    },
  };
}

/** Begins the signature of accepted bytes. If a token fails, they stay accepted. */
function begin(
  log: Log,
  entry: CachedSignature,
  {
    held,
    purpose,
    tbs,
  }: Pick<SigningOperation, 'held' | 'tbs'> & { readonly purpose: HolderPurpose },
): Promise<Uint8Array> {
  entry.signature = held.key.sign(tbs).then(
    (signature) => {
      log.info({ key: held.name, purpose, ...entry.fields }, 'signed');
      return signature;
    },
    (error: unknown) => {
      entry.signature = undefined;
      throw error;
    },
  );
  return entry.signature;
}

interface SigningOperation {
  readonly use: KeyUse;
  readonly held: OpenKey;
  readonly tbs: Uint8Array;
}

function accepted(
  init: SocketSignerInit,
  purpose: HolderPurpose,
  { use, held, tbs }: SigningOperation,
): SigningDecision {
  return purpose === 'leaf'
    ? acceptedLeaf(init, use, held, tbs)
    : acceptedCrl(init, use, held, tbs);
}

/** A document that may be signed, by the fields of its log line, or why not. */
type SigningDecision =
  | { readonly fields: Readonly<Record<string, string>>; readonly refusal?: undefined }
  | { readonly refusal: SigningRefusal };

function acceptedLeaf(
  { clock }: SocketSignerInit,
  { leaf: limits }: KeyUse,
  { ca, name }: OpenKey,
  tbs: Uint8Array,
): SigningDecision {
  if (limits === undefined) return { refusal: wrongPurpose(name, 'leaves') };
  const judged = judgeLeaf({ tbs, ca, limits, now: clock() });
  if (judged.refusal !== undefined) return judged;
  return { fields: { serial: Buffer.from(judged.document.serial).toString('hex') } };
}

function acceptedCrl(
  { clock, numbers }: SocketSignerInit,
  { crl: limits }: KeyUse,
  { ca, name, signsLists }: OpenKey,
  tbs: Uint8Array,
): SigningDecision {
  if (limits === undefined) return { refusal: wrongPurpose(name, 'CRLs') };
  if (!signsLists) {
    const message = 'the certificate of the CA does not allow CRLs (keyUsage lacks cRLSign)';
    return { refusal: { reason: 'purpose', message } };
  }
  const lastNumber = numbers.last(name);
  const judged = judgeCrl({ tbs, ca, limits, lastNumber, now: clock() });
  if (judged.refusal !== undefined) return judged;
  const { number } = judged.document;
  // Before the signature: two lists that arrive together must not get the same number.
  numbers.use(name, number);
  return { fields: { number: number.toString() } };
}

function wrongPurpose(key: string, documents: string): SigningRefusal {
  return { reason: 'purpose', message: `this socket signs no ${documents} with key ${key}` };
}

function refused(log: Log, key: string, refusal: SigningRefusal): { refusal: SigningRefusal } {
  log.warn({ key, reason: refusal.reason, fault: refusal.message }, 'refused');
  return { refusal };
}

function describe({ leaf, crl }: KeyUse, { key, ca, signerNames }: OpenKey): KeyDescription {
  return {
    publicKey: Buffer.from(key.spki).toString('base64'),
    algorithm: Buffer.from(key.algorithm.der).toString('base64'),
    signerNames,
    notAfter: ca.notAfter,
    purposes: [...(leaf === undefined ? [] : ['leaf' as const]), ...(crl ? ['crl' as const] : [])],
  };
}
