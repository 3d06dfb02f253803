// SPDX-License-Identifier: Apache-2.0
import { createPublicKey } from 'node:crypto';
import { sameBytes } from '../bytes.ts';
import { messageOf } from '../errors.ts';
import { decodeCertificate, fingerprint, type Certificate } from '../pki/x509/certificate.ts';
import { quote } from '../quote.ts';
import { X509_SVID_USE } from './write-bundle.ts';

/** What a SPIFFE bundle of another trust domain says. */
export interface ForeignBundle {
  /** Its CAs, each once; none: every X509-SVID of the trust domain is invalid. */
  readonly anchors: readonly Certificate[];
  readonly sequence: bigint | undefined;
  /** Seconds, as it says. */
  readonly refreshSeconds: number | undefined;
}

/** Of every kind and use: a trust domain that rotates has a handful. */
const MOST_KEYS = 1000;
/** What every kubelet and every verifier reads again at each change. */
const MOST_ANCHORS = 100;

/** The types of RFC 7518 §6.1 and RFC 8037. */
const KEY_TYPES: readonly unknown[] = ['RSA', 'EC', 'OKP'];

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads a SPIFFE bundle (SPIFFE Trust Domain and Bundle §4, X509-SVID §6.2). Keys of other types and uses are ignored, and
 * those without a certificate; of several certificates the first counts. One that cannot be read as a CA makes the whole
 * bundle unreadable: half of what a trust domain says is not what it says.
 *
 * @param text - at most as long as its caller lets it be: it is read synchronously
 * @returns why it cannot be read, as text
 */
export function readBundle(text: string): ForeignBundle | string {
  try {
    const document = membersOf(withBigSequence(text), 'the bundle');
    const { keys } = document;
    if (!Array.isArray(keys)) throw new TypeError('it has no list "keys"');
    if (keys.length > MOST_KEYS) throw new RangeError(`it has more than ${MOST_KEYS} keys`);
    const anchors = (keys as readonly unknown[]).flatMap(anchorOf);
    const unique = new Map(anchors.map((each) => [fingerprint(each.raw), each]));
    if (unique.size > MOST_ANCHORS) throw new RangeError(`it has more than ${MOST_ANCHORS} CAs`);
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

/** A sequence has 64 bits and more (§4.1.1); a number of JavaScript 53. */
function withBigSequence(text: string): unknown {
  const revive: Reviver = (name, value, { source = '' }) =>
    name === 'spiffe_sequence' && /^\d{1,40}$/.test(source) ? BigInt(source) : value;
  return (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, revive);
}

function membersOf(value: unknown, what: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new TypeError(`${what} is no JSON object`);
}

function sequenceIn({ spiffe_sequence: given }: Members): bigint | undefined {
  if (given === undefined || typeof given === 'bigint') return given;
  throw new TypeError('"spiffe_sequence" is no whole number');
}

function refreshHintIn({ spiffe_refresh_hint: given }: Members): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0) return given;
  throw new TypeError('"spiffe_refresh_hint" is no whole number of seconds');
}

function anchorOf(given: unknown): readonly Certificate[] {
  const jwk = membersOf(given, 'a key');
  const { kty, use, x5c } = jwk;
  if (use !== X509_SVID_USE || !KEY_TYPES.includes(kty)) return [];
  if (!Array.isArray(x5c) || x5c.length === 0) return [];
  // RFC 7518 §6.2.2, §6.3.2; RFC 8037 §2.
  if (jwk['d'] !== undefined)
    throw new SyntaxError('a key has its private half ("d"): whoever reads it can be the CA');
  const [first] = x5c as readonly unknown[];
  if (typeof first !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(first))
    throw new SyntaxError('a certificate in x5c is not base64');
  const certificate = decodeCertificate(Buffer.from(first, 'base64'));
  checkCa(certificate);
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  // RFC 7517 §4.7.
  if (!sameBytes(key.export({ type: 'spki', format: 'der' }), certificate.publicKey.spki))
    throw new SyntaxError('a key is not that of its certificate in x5c');
  return [certificate];
}

/** X509-SVID §2, §4.1, §4.3. */
function checkCa({ isCa, keyUsage, sans }: Certificate): void {
  if (!isCa) throw new SyntaxError('a certificate in x5c is not that of a CA');
  if (keyUsage !== undefined && !keyUsage.has('keyCertSign'))
    throw new SyntaxError('a CA certificate in x5c may not sign certificates (keyCertSign)');
  if (sans.uris.some((each) => /^spiffe:\/\/[^/]*\/./i.test(each)))
    throw new SyntaxError('a CA certificate in x5c has a SPIFFE ID with a path');
}
