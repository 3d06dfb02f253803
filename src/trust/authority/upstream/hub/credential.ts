// SPDX-License-Identifier: Apache-2.0
/** The credential of a member: address and CA of the hub, and a token. Nothing else. */
import { HUB_KEYS, MAX_HUB_TOKEN_SECONDS } from '#api/signer/upstream-hub.ts';
import { isGranted } from '#api/signer/grant.ts';
import type { Secret } from '#api/object/object.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import * as messages from './messages.ts';

export interface HubCredential {
  /** `https://<host>[:<port>]`, without a path. */
  readonly server: string;
  /** PEM. No other CA is trusted for this server. */
  readonly ca: string;
  readonly token: HubToken;
  /** Version of the Secret. */
  readonly resourceVersion: string;
}

/** A token of a ServiceAccount, with the claims that it has about itself. */
export interface HubToken {
  readonly text: string;
  readonly namespace: string;
  readonly account: string;
  /** Milliseconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

const KEYS: readonly string[] = Object.values(HUB_KEYS);

/**
 * Reads the Secret of a member.
 *
 * @returns the fault as text, if the Secret is unusable. It never has a value of the Secret
 */
export function readHubCredential(secret: Secret, signerName: string): HubCredential | string {
  if (!isGranted(secret, signerName)) return messages.notGranted(signerName);
  const { data = {} } = secret;
  const others = Object.keys(data).filter((key) => !KEYS.includes(key));
  if (others.length > 0) return messages.otherKeys(others);
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('latin1');
  const server = hubServerOf(text(HUB_KEYS.server));
  if (server === undefined) return messages.NOT_A_SERVER;
  const ca = text(HUB_KEYS.ca);
  const anchors = attempt(() => readAnchors(ca));
  // Without a CA, Node would trust those of the system.
  if (anchors instanceof SignerError || anchors.length === 0) return messages.NOT_A_CA;
  const token = readToken(text(HUB_KEYS.token).trim());
  if (typeof token === 'string') return token;
  const { resourceVersion } = secret.metadata;
  return { server, ca, token, resourceVersion };
}

/**
 * Returns the origin in a text. Undefined if it has more: a path, a user or a query is part of no
 * API server.
 */
export function hubServerOf(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined;
  return url.search === '' && url.hash === '' && url.pathname === '/' ? url.origin : undefined;
}

const SUBJECT = /^system:serviceaccount:([a-z0-9-]{1,63}):([a-z0-9.-]{1,253})$/;

/** The end of the year 9999 in seconds: the last time that fits into a condition. */
const LAST_SECOND = 253_402_300_799;

/** Visible ASCII of three parts, so that the header has nothing else. */
const JWT = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

/**
 * Reads the claims of a token. Its signature is for the hub, which checks it.
 *
 * @returns the fault as text
 */
export function readToken(text: string): HubToken | string {
  const { sub, iat, exp } = claimsOf(JWT.exec(text)?.[1] ?? '');
  const [, namespace, account] = SUBJECT.exec(typeof sub === 'string' ? sub : '') ?? [];
  if (namespace === undefined || account === undefined) return messages.NOT_A_TOKEN;
  const life = lifeOf(iat, exp);
  return typeof life === 'string' ? life : { text, namespace, account, ...life };
}

/** Returns the life of a token in milliseconds, or its fault as text. */
function lifeOf(iat: unknown, exp: unknown): Pick<HubToken, 'issuedAt' | 'expiresAt'> | string {
  if (!isSecond(iat) || !isSecond(exp) || exp <= iat) return messages.ENDLESS_TOKEN;
  if (exp - iat > MAX_HUB_TOKEN_SECONDS) return messages.longToken(MAX_HUB_TOKEN_SECONDS);
  return { issuedAt: iat * 1000, expiresAt: exp * 1000 };
}

/** Reports whether a claim is a time that can be shown. The hub may claim any number. */
function isSecond(claim: unknown): claim is number {
  return typeof claim === 'number' && claim >= 0 && claim <= LAST_SECOND;
}

/** Returns the claims of a token, or none if the text is not a token. */
function claimsOf(payload: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Reports whether a token is past half of its life. */
export function isRenewalDue({ issuedAt, expiresAt }: HubToken, now: number): boolean {
  return now >= issuedAt + (expiresAt - issuedAt) / 2;
}
