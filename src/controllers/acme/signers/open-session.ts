// SPDX-License-Identifier: Apache-2.0
import type { Answer, NoAnswer, Problem } from '../../../acme/answer.ts';
import { findAccount, type Account } from '../../../acme/accounts.ts';
import type { DirectoryMeta } from '../../../acme/resources.ts';
import type { AcmeServer } from '../../../acme/server.ts';
import { openAccount, problemOfSettings } from '../../../acme-issuing/index.ts';
import type { AcmeSession, SignerProblem, SignerSettings } from '../../../acme-issuing/session.ts';
import type { AcmeSigner } from '../../../api/acme/index.ts';
import { persistentRecords, type PersistentProof } from '../../../acme-solving/dns01/persist.ts';
import type { AccountCredentials } from './account-key.ts';
import type { ShownStatus } from './signer-status.ts';

/** A signer that can order. */
export interface ReadySigner {
  readonly session: AcmeSession;
  /** What records of dns-persist-01 are to say. */
  readonly persist: PersistentProof;
  /** What the status says of the server and the account. */
  readonly shown: ShownStatus;
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
  { key, external }: AccountCredentials,
): Promise<ReadySigner | UnreadySigner> {
  const directory = await server.directory();
  if (directory.kind !== 'ok') return refusal(directory);
  const { meta } = directory.value;
  const settings = settingsOf(signer, external);
  // The external account is needed for a new account only.
  const mustBeThere = meta.externalAccountRequired && external === undefined;
  const isThere = mustBeThere && (await findAccount(server, key)).kind === 'ok';
  const asked = isThere ? { ...meta, externalAccountRequired: false } : meta;
  const problem = problemOfSettings(asked, settings);
  if (problem !== undefined) return problem;
  const opened: Answer<Account> = await openAccount(server, key, settings);
  if (opened.kind !== 'ok') return refusal(opened);
  const account = opened.value;
  if (account.status !== 'valid') {
    const message = `the ACME account ${account.account} is ${account.status}; make a new account key`;
    return { reason: 'AccountNotValid', message };
  }
  const isBound = external !== undefined || signer.status.account?.externalAccountBound === true;
  const persist = { accountUrl: account.account, issuers: meta.caaIdentities };
  const shown = { ...shownOf(account, meta, isBound), ...shownRecords(signer, persist) };
  return { session: { server, account }, persist, shown };
}

function settingsOf(
  { spec: { acme } }: AcmeSigner,
  externalAccount: AccountCredentials['external'],
): SignerSettings {
  const { contact = [], termsOfServiceAgreed, profile } = acme;
  const external = externalAccount === undefined ? {} : { externalAccount };
  return { contact, termsOfServiceAgreed, profile, ...external };
}

function shownOf(
  { account, key }: Account,
  { termsOfService, profiles }: DirectoryMeta,
  isBound: boolean,
): ReadySigner['shown'] {
  const bound = isBound ? { externalAccountBound: true } : {};
  return {
    account: { url: account, keyThumbprint: key.thumbprint, ...bound },
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
