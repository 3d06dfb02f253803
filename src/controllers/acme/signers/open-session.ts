// SPDX-License-Identifier: Apache-2.0
import type { NoAnswer, Problem } from '../../../acme/answer.ts';
import { findAccount, type Account } from '../../../acme/accounts.ts';
import type { DirectoryMeta } from '../../../acme/resources.ts';
import type { AcmeServer } from '../../../acme/server.ts';
import { openAccount, problemOfSettings } from '../../../acme-issuing/index.ts';
import type { KnownKeys, AcmeSession, SignerProblem } from '../../../acme-issuing/session.ts';
import type { AcmeSigner } from '../../../api/acme/index.ts';
import { findCondition } from '../../../api/request/conditions.ts';
import { persistentRecords, type PersistentProof } from '../../../acme-solving/dns01/persist.ts';
import type { AccountCredentials } from './account-key.ts';
import { rollOverOf, type RollOverResult } from './roll-over.ts';
import type { ShownStatus } from './signer-status.ts';

/** A signer that can order. */
export interface ReadySigner {
  readonly session: AcmeSession;
  /** What records of dns-persist-01 are to say. */
  readonly persist: PersistentProof;
  /** What the status says of the server and the account. */
  readonly shown: ShownStatus;
  /** What came of the roll-over that was asked for. */
  readonly rollOver?: RollOverResult | undefined;
}

/** Why a signer cannot order. */
export interface UnreadySigner extends SignerProblem {
  /** Milliseconds until the server is asked again; undefined: a call would change nothing before something is corrected. */
  readonly afterMs?: number | undefined;
  /** Whether a growing wait is wanted. */
  readonly again?: boolean;
}

/** Calls that are answered with these are no ACME server's, whatever else they are. */
const NO_ACME_SERVER: readonly NoAnswer['cause'][] = [
  'unusable',
  'foreign-url',
  'redirect',
  'too-long',
  'no-nonce',
];

/**
 * Brings a signer to its account: found by its key, made where there is none. What the directory says against the settings
 * is said before anything is asked for.
 */
export async function openSession(
  server: AcmeServer,
  signer: AcmeSigner,
  credentials: AccountCredentials,
): Promise<ReadySigner | UnreadySigner> {
  const directory = await server.directory();
  if (directory.kind !== 'ok') return refusal(directory);
  const { meta } = directory.value;
  const { keys, external } = credentials;
  const settings = settingsOf(signer, external);
  // The external account is needed for a new account only.
  const mustBeThere = meta.externalAccountRequired && external === undefined;
  const isThere = mustBeThere && (await hasAccount(server, keys));
  const asked = isThere ? { ...meta, externalAccountRequired: false } : meta;
  const problem = problemOfSettings(asked, settings);
  if (problem !== undefined) return problem;
  const opened = await openAccount(server, keys, settings);
  if (opened.kind !== 'ok') return refusal(opened);
  const { account, notRolledOver } = opened.value;
  if (account.status !== 'valid') {
    const message = `the ACME account ${account.account} is ${account.status}; make a new account key`;
    return { reason: 'AccountNotValid', message };
  }
  const isBound = external !== undefined || signer.status.account?.externalAccountBound === true;
  const persist = { accountUrl: account.account, issuers: meta.caaIdentities };
  const nextKey = nextKeyOf(keys, account);
  const shown = { ...shownOf(account, meta, isBound, nextKey), ...shownRecords(signer, persist) };
  const rollOver = rollOverOf(credentials, account, notRolledOver);
  return { session: { server, account }, persist, shown, rollOver };
}

async function hasAccount(server: AcmeServer, { key, next }: KnownKeys): Promise<boolean> {
  for (const each of next === undefined ? [key] : [key, next])
    if ((await findAccount(server, each)).kind === 'ok') return true;
  return false;
}

/** The thumbprint of a key that waits to be used. */
function nextKeyOf({ next }: KnownKeys, { key }: Account): string | undefined {
  return next?.thumbprint === key.thumbprint ? undefined : next?.thumbprint;
}

function settingsOf(
  { metadata, spec: { acme }, status }: AcmeSigner,
  externalAccount: AccountCredentials['external'],
): Parameters<typeof openAccount>[2] {
  const { contact = [], termsOfServiceAgreed, profile } = acme;
  const external = externalAccount === undefined ? {} : { externalAccount };
  // It was ready with this very spec: the server has heard of its contacts.
  const ready = findCondition(status.conditions, 'Ready');
  const contactToldBefore =
    ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  return { contact, termsOfServiceAgreed, profile, contactToldBefore, ...external };
}

function shownOf(
  { account, key }: Account,
  { termsOfService, profiles }: DirectoryMeta,
  isBound: boolean,
  nextKeyThumbprint: string | undefined,
): ReadySigner['shown'] {
  const bound = isBound ? { externalAccountBound: true } : {};
  const next = nextKeyThumbprint === undefined ? {} : { nextKeyThumbprint };
  return {
    account: { url: account, keyThumbprint: key.thumbprint, ...next, ...bound },
    ...(termsOfService === undefined ? {} : { termsOfService }),
    ...(profiles.length === 0 ? {} : { profiles }),
  };
}

/** None is said only where there were some. */
function shownRecords(
  { spec, status }: AcmeSigner,
  persist: PersistentProof,
): Pick<ShownStatus, 'persistRecords'> {
  const records = persistentRecords(spec.acme.solvers, persist);
  if (records.length === 0 && status.persistRecords === undefined) return {};
  return { persistRecords: records };
}

function refusal(answer: Problem | NoAnswer): UnreadySigner {
  if (answer.kind === 'transport') {
    const isNone = NO_ACME_SERVER.includes(answer.cause);
    const advice = isNone ? '; correct spec.acme.server' : '';
    return {
      reason: isNone ? 'NotAnAcmeServer' : 'ServerUnreachable',
      message: `spec.acme.server: ${answer.detail}${advice}`,
      again: true,
    };
  }
  const { status, type, detail, retryAfterMs } = answer;
  const isLimit = status === 429 || type === 'rateLimited';
  return {
    reason: isLimit ? 'RateLimited' : 'AccountRefused',
    message: `the ACME server refused: ${status} ${type}${detail === '' ? '' : ` ${detail}`}`,
    again: true,
    afterMs: retryAfterMs,
  };
}
