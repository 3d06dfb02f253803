// SPDX-License-Identifier: Apache-2.0
import { isRecord } from '#base/record.ts';
import { createPublicKey } from 'node:crypto';
import { sameBytes } from '#base/bytes.ts';
import { messageOf } from '#base/errors.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { quote } from '#base/quote.ts';
import { X509_SVID_USE } from './write-bundle.ts';
import * as messages from './messages.ts';

/** Contents of another trust domain's SPIFFE bundle. */
export interface ForeignBundle {
  /** Its CAs without duplicates. An empty list invalidates every X509-SVID of the trust domain. */
  readonly anchors: readonly Certificate[];
  readonly sequence: bigint | undefined;
  /** The bundle's refresh hint in seconds. */
  readonly refreshSeconds: number | undefined;
}

/** Maximum number of keys of every kind and use. A trust domain that rotates has a handful. */
const MAX_KEYS = 1000;
/** Maximum number of CAs, since every kubelet and verifier reads them again at each change. */
const MAX_ANCHORS = 100;

/** The types of RFC 7518 §6.1 and RFC 8037. */
const KEY_TYPES: readonly unknown[] = ['RSA', 'EC', 'OKP'];

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads a SPIFFE bundle (SPIFFE Trust Domain and Bundle §4, X509-SVID §6.2). Ignores keys of other
 * types and uses, and keys without a certificate. Of several certificates of a key the first
 * counts.
 *
 * One unreadable CA makes the whole bundle unreadable, since a partial bundle would change its
 * meaning.
 *
 * @param text - limited in length by the caller, since it is read synchronously
 * @returns the bundle, or the reason why it cannot be read
 */
export function readBundle(text: string): ForeignBundle | string {
  try {
    const document = membersOf(withBigSequence(text), messages.THE_BUNDLE);
    const { keys } = document;
    if (!Array.isArray(keys)) throw new TypeError(messages.NO_KEYS);
    if (keys.length > MAX_KEYS) throw new RangeError(messages.tooManyKeys(MAX_KEYS));
    const anchors = keys.flatMap(anchorOf);
    const unique = new Map(anchors.map((each) => [fingerprint(each.raw), each]));
    if (unique.size > MAX_ANCHORS) throw new RangeError(messages.tooManyCas(MAX_ANCHORS));
    return {
      anchors: [...unique.values()],
      sequence: sequenceIn(document),
      refreshSeconds: refreshHintIn(document),
    };
  } catch (error) {
    return quote(messageOf(error), 200);
  }
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Parses the sequence as a bigint: it has 64 bits or more (§4.1.1), a JavaScript number 53. */
function withBigSequence(text: string): unknown {
  const revive: Reviver = (name, value, { source = '' }) =>
    name === 'spiffe_sequence' && /^\d{1,40}$/.test(source) ? BigInt(source) : value;
  // The type of JSON.parse lacks the context, which ES2025 has.
  return (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, revive);
}

function membersOf(value: unknown, what: string): Members {
  if (isRecord(value)) return value;
  throw new TypeError(messages.notAnObject(what));
}

function sequenceIn({ spiffe_sequence: given }: Members): bigint | undefined {
  if (given === undefined || typeof given === 'bigint') return given;
  throw new TypeError(messages.SEQUENCE_NOT_WHOLE);
}

function refreshHintIn({ spiffe_refresh_hint: given }: Members): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0) return given;
  throw new TypeError(messages.REFRESH_HINT_NOT_WHOLE);
}

function anchorOf(given: unknown): readonly Certificate[] {
  const jwk = membersOf(given, messages.A_KEY);
  const { kty, use, x5c } = jwk;
  if (use !== X509_SVID_USE || !KEY_TYPES.includes(kty)) return [];
  if (!Array.isArray(x5c) || x5c.length === 0) return [];
  // RFC 7518 §6.2.2, §6.3.2 and RFC 8037 §2.
  if (jwk['d'] !== undefined) throw new SyntaxError(messages.PRIVATE_KEY);
  const first: unknown = x5c[0];
  if (typeof first !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(first))
    throw new SyntaxError(messages.NOT_BASE64);
  const certificate = decodeCertificate(Buffer.from(first, 'base64'));
  checkCa(certificate);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  // RFC 7517 §4.7.
  if (!sameBytes(key.export({ type: 'spki', format: 'der' }), certificate.publicKey.spki))
    throw new SyntaxError(messages.OTHER_KEY);
  return [certificate];
}

/** X509-SVID §2, §4.1, §4.3. */
function checkCa({ isCa, keyUsage, sans }: Certificate): void {
  if (!isCa) throw new SyntaxError(messages.NOT_A_CA);
  if (keyUsage !== undefined && !keyUsage.has('keyCertSign'))
    throw new SyntaxError(messages.CA_MAY_NOT_SIGN);
  if (sans.uris.some((each) => /^spiffe:\/\/[^/]*\/./i.test(each)))
    throw new SyntaxError(messages.CA_ID_WITH_PATH);
}
