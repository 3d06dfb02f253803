// SPDX-License-Identifier: Apache-2.0
/**
 * Schemas of an ACME server's answers (RFC 8555 §7.1, RFC 9773 §4.2). They drop unknown members.
 * They reject text of unbounded length, URLs of another origin, and tokens that are not a path
 * segment.
 */
import * as z from 'zod';
import { readProblem, type ProblemDocument } from './problem.ts';

const MAX_URL = 2048;
/** Let's Encrypt allows 100 names an order. We know of no CA that allows more than 1000. */
const MAX_IDENTIFIERS = 1000;
/**
 * One authorization for each name of an order. An Order has at most 100 names, which its status can
 * hold.
 */
const MAX_AUTHORIZATIONS = 100;
const MAX_CHALLENGES = 32;
const MAX_PROFILES = 64;
const MAX_CAA_IDENTITIES = 16;

/** DNS names and addresses without control characters: the program displays and compares them. */
const identifierValue = z.string().regex(/^[\x21-\x7e]{1,253}$/);
const identifier = z.object({ type: z.string().max(64), value: identifierValue });

/**
 * A name in CAA records (RFC 8659 §4.2, issuer-domain-name). The program displays and compares it.
 */
const caaIdentity = z
  .string()
  .regex(/^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/)
  .max(253);

/** RFC 8555 §8: base64url, which cannot escape a path or a DNS label. */
const token = z.string().regex(/^[A-Za-z0-9_-]{1,255}$/);
const instant = z.iso
  .datetime({ offset: true, precision: null })
  .transform((text) => Date.parse(text));
const optionalInstant = instant.optional().catch(undefined);
const problem = z
  .unknown()
  .transform((value): ProblemDocument | undefined =>
    value === null ? undefined : readProblem(value),
  )
  .optional();

/** A name in a request for a certificate. */
export interface Identifier {
  readonly type: 'dns' | 'ip';
  /** An A-label name, with `*.` in an order only, or an address in the form of RFC 5952. */
  readonly value: string;
}

export type OrderStatus = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
export type ChallengeStatus = 'pending' | 'processing' | 'valid' | 'invalid';
export type AuthorizationStatus =
  'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired' | 'revoked';

/** Schemas that accept URLs of the server's origins only. */
export interface Resources {
  readonly directory: z.ZodType<Directory>;
  readonly account: z.ZodType<AccountBody>;
  readonly order: z.ZodType<OrderBody>;
  readonly authorization: z.ZodType<Authorization>;
  readonly challenge: z.ZodType<AcmeChallenge>;
  readonly renewalInfo: z.ZodType<RenewalWindow>;
  /** Schema of a URL in a header. */
  readonly url: z.ZodType<string>;
}

/** Directory of the server (RFC 8555 §7.1.1). */
export interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  readonly revokeCert?: string | undefined;
  readonly keyChange?: string | undefined;
  readonly renewalInfo?: string | undefined;
  readonly meta: DirectoryMeta;
}

export interface DirectoryMeta {
  readonly termsOfService?: string | undefined;
  readonly externalAccountRequired: boolean;
  /** Names of the profiles on offer. Empty if the server has none. */
  readonly profiles: readonly string[];
  /** Names of the CA in CAA records. Empty if the server gives none. */
  readonly caaIdentities: readonly string[];
}

export interface AccountBody {
  readonly status: 'valid' | 'deactivated' | 'revoked';
  readonly contact: readonly string[];
}

export interface OrderBody {
  readonly status: OrderStatus;
  /** Milliseconds since 1970. */
  readonly expires?: number | undefined;
  readonly identifiers: readonly { readonly type: string; readonly value: string }[];
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate?: string | undefined;
  readonly error?: ProblemDocument | undefined;
}

export interface Authorization {
  readonly identifier: { readonly type: string; readonly value: string };
  readonly status: AuthorizationStatus;
  /** Milliseconds since 1970. */
  readonly expires?: number | undefined;
  readonly wildcard: boolean;
  /** Challenges of known form. Others are left out. */
  readonly challenges: readonly AcmeChallenge[];
}

export interface AcmeChallenge {
  readonly type: string;
  readonly url: string;
  readonly status: ChallengeStatus;
  /** Absent for types without a token, such as dns-persist-01. */
  readonly token?: string | undefined;
  readonly error?: ProblemDocument | undefined;
}

/** Renewal window (RFC 9773 §4.2) in milliseconds since 1970, `start` before `end`. */
export interface RenewalWindow {
  readonly start: number;
  readonly end: number;
  readonly explanationURL?: string | undefined;
}

/** Message of a zod issue for a URL of a foreign origin. */
export const FOREIGN = 'foreign-url';

/**
 * Returns the schemas of a server's resources (RFC 8555 §7.1). They reject URLs of other origins.
 *
 * @param origins - origin of the directory, such as `https://acme.example:14000`, then those at
 * which the server may have other URLs
 */
export function resourcesAt(origins: readonly string[]): Resources {
  const url = z
    .string()
    .max(MAX_URL)
    .refine((text) => isAt(origins, text), { message: FOREIGN, params: { origins } });
  const challenge = challengeAt(url);
  return {
    url,
    challenge,
    directory: directoryAt(url),
    account: z.object({
      status: z.enum(['valid', 'deactivated', 'revoked']),
      contact: z.array(z.string().max(MAX_URL)).max(64).catch([]),
    }),
    order: z.object({
      status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
      expires: optionalInstant,
      identifiers: z.array(identifier).max(MAX_IDENTIFIERS),
      authorizations: z.array(url).max(MAX_AUTHORIZATIONS),
      finalize: url,
      certificate: url.optional(),
      error: problem,
    }),
    authorization: z.object({
      identifier,
      status: z.enum(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
      expires: optionalInstant,
      wildcard: z.boolean().catch(false),
      challenges: z
        .array(challenge.or(z.unknown().transform(() => undefined)))
        .max(MAX_CHALLENGES)
        .transform((all) => all.filter((each) => each !== undefined)),
    }),
    renewalInfo,
  };
}

function challengeAt(url: z.ZodType<string>): z.ZodType<AcmeChallenge> {
  return z.object({
    type: z.string().regex(/^[a-z0-9-]{1,64}$/),
    url,
    status: z.enum(['pending', 'processing', 'valid', 'invalid']),
    token: token.optional(),
    error: problem,
  });
}

function directoryAt(url: z.ZodType<string>): z.ZodType<Directory> {
  const meta = z.object({
    termsOfService: z.string().max(MAX_URL).optional().catch(undefined),
    externalAccountRequired: z.boolean().catch(false),
    profiles: z
      .record(z.string().max(64), z.unknown())
      .transform((all) => Object.keys(all).slice(0, MAX_PROFILES))
      .catch([]),
    caaIdentities: z.array(caaIdentity).max(MAX_CAA_IDENTITIES).catch([]),
  });
  return z.object({
    newNonce: url,
    newAccount: url,
    newOrder: url,
    revokeCert: url.optional(),
    keyChange: url.optional(),
    renewalInfo: url.optional(),
    meta: meta.catch({ externalAccountRequired: false, profiles: [], caaIdentities: [] }),
  });
}

/** Ignores a window that ends before it starts (RFC 9773 §4.2). */
const renewalInfo = z
  .object({
    suggestedWindow: z.object({ start: instant, end: instant }),
    // People open this URL in a browser, so it may have another origin.
    explanationURL: z
      .string()
      .max(MAX_URL)
      .regex(/^https?:\/\/[\x21-\x7e]+$/)
      .optional()
      .catch(undefined),
  })
  .refine(({ suggestedWindow: { start, end } }) => start < end)
  .transform(({ suggestedWindow, explanationURL }) => ({ ...suggestedWindow, explanationURL }));

/**
 * Reports whether a URL may be called: HTTPS (RFC 8555 §6.1), one of the server's origins, no user.
 */
function isAt(origins: readonly string[], text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    url.protocol === 'https:' &&
    origins.includes(url.origin) &&
    `${url.username}${url.password}` === ''
  );
}
