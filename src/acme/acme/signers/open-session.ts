// SPDX-License-Identifier: Apache-2.0
import type { Problem } from '#acme/protocol/answer.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { findAccount, type Account } from '#acme/protocol/accounts.ts';
import type { DirectoryMeta } from '#acme/protocol/resources.ts';
import type { AcmeServer } from '#acme/protocol/server.ts';
import { openAccount, problemOfSettings } from '#acme/issuing/index.ts';
import type { KnownKeys, AcmeSession, SignerProblem } from '#acme/issuing/session.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import { findCondition } from '#api/request/conditions.ts';
import { waitOf } from '#acme/orders/verdict.ts';
import { persistentRecords, type PersistentProof } from '#acme/solving/dns01/persist.ts';
import type { AccountCredentials } from './account-key.ts';
import { rollOverOf, type RollOverResult } from './roll-over.ts';
import type { ShownStatus } from './signer-status.ts';
import * as messages from '../messages.ts';

/** A signer that can order. */
export interface ReadySigner {
  readonly session: AcmeSession;
  /** Contents of dns-persist-01 records. */
  readonly persist: PersistentProof;
  /** Status fields of the server and the account. */
  readonly shown: ShownStatus;
  /** Result of the requested roll-over. */
  readonly rollOver?: RollOverResult | undefined;
}

/** A signer that cannot order, and the reason. */
export interface UnreadySigner extends SignerProblem {
  /** Milliseconds until the next call. Undefined: a call helps only after a correction. */
  readonly afterMs?: number | undefined;
  /** Whether to retry with a growing wait. */
  readonly again?: boolean;
}

/** Causes that show that the URL is not an ACME server. */
const NO_ACME_SERVER: readonly NoAnswer['cause'][] = [
  'unusable',
  'foreign-url',
  'redirect',
  'too-long',
  'no-nonce',
];

/**
 * Finds a signer's account by its key, or creates it. It compares the settings with the directory
 * before any request.
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
  // The external account is necessary only for a new account.
  const mustBeThere = meta.externalAccountRequired && external === undefined;
  const isThere = mustBeThere && (await hasAccount(server, keys));
  const asked = isThere ? { ...meta, externalAccountRequired: false } : meta;
  const problem = problemOfSettings(asked, settings);
  if (problem !== undefined) return problem;
  const opened = await openAccount(server, keys, settings);
  if (opened.kind !== 'ok') return refusal(opened, external);
  const { account, notRolledOver } = opened.value;
  if (account.status !== 'valid') {
    const message = messages.accountStatus(account.account, account.status);
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

/** Returns the thumbprint of a key that is not used yet. */
function nextKeyOf({ next }: KnownKeys, { key }: Account): string | undefined {
  return next?.thumbprint === key.thumbprint ? undefined : next?.thumbprint;
}

function settingsOf(
  { metadata, spec: { acme }, status }: AcmeSigner,
  externalAccount: AccountCredentials['external'],
): Parameters<typeof openAccount>[2] {
  const { contact = [], termsOfServiceAgreed, profile } = acme;
  const external = externalAccount === undefined ? {} : { externalAccount };
  // The signer was ready with this spec, so the server has its contacts.
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

/** Returns an empty list only if the status has a list. */
function shownRecords(
  { spec, status }: AcmeSigner,
  persist: PersistentProof,
): Pick<ShownStatus, 'persistRecords'> {
  const records = persistentRecords(spec.acme.solvers, persist);
  if (records.length === 0 && status.persistRecords === undefined) return {};
  return { persistRecords: records };
}

function refusal(
  answer: Problem | NoAnswer,
  external?: AccountCredentials['external'],
): UnreadySigner {
  if (answer.kind === 'transport') {
    const isNone = NO_ACME_SERVER.includes(answer.cause);
    const advice = isNone ? messages.CORRECT_SERVER : '';
    return {
      reason: isNone ? 'NotAnAcmeServer' : 'ServerUnreachable',
      message: messages.serverFault(answer.detail, advice),
      again: true,
    };
  }
  const { status, type, detail } = answer;
  const isLimit = status === 429 || type === 'rateLimited';
  const advice =
    external === undefined || isLimit || status >= 500
      ? ''
      : messages.checkExternalAccount(external.secret, external.keyId);
  return {
    reason: isLimit ? 'RateLimited' : 'AccountRefused',
    message: messages.registrationRefused(status, type, detail, advice),
    again: true,
    afterMs: waitOf(answer),
  };
}
