// SPDX-License-Identifier: Apache-2.0
/** The calls by which Vault or OpenBao signs a managed CA: read the issuer, log in, sign. */
import type { VaultUpstream } from '#api/signer/cluster-signer.ts';
import type { Exchange, HttpAnswer } from '#base/egress/exchange.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { quote } from '#base/quote.ts';
import { judgeIssuers } from '#ca/upstream/judge-issuers.ts';
import { malformedChain, refusal, type ChainRefusal } from '#ca/upstream/refusals.ts';
import type { WantedCa } from '#ca/upstream/wanted-ca.ts';
import { certificatesOf, errorText } from '#component/vault/answers.ts';
import {
  callOf,
  failureOf,
  logIn,
  logOutCall,
  unreachable,
  VaultFailure,
  type VaultCaller,
} from '#component/vault/calls.ts';
import { withoutTokens } from '#component/vault/foreign-text.ts';
import { lost, unreadable } from '#component/vault/messages.ts';
import { commonNamesOf } from '#pki/names/distinguished-name.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import type { UpstreamVerdict } from '../answer.ts';
import type { PendingRequest } from '../../decide/upstream.ts';
import * as messages from '../../messages.ts';

/** A CA to sign. */
export interface VaultOrder extends VaultCaller {
  readonly vault: VaultUpstream;
  readonly pending: PendingRequest;
  readonly wanted: WantedCa;
  /** The duration that the spec has. */
  readonly durationSeconds: number;
}

/**
 * The end of a call:
 *
 * - `signed`: Vault signed. Its chain is not checked yet.
 * - `refused`: Vault, or the checks before it signs, refused. It signed nothing.
 * - `unavailable`: Vault did not decide. It signed nothing.
 * - `lost`: Vault may have signed, but no usable answer arrived.
 */
export type VaultOutcome = 'signed' | 'refused' | 'unavailable' | 'lost';

export interface VaultResult {
  readonly outcome: VaultOutcome;
  /** Never `refused`: the same request may succeed later, so the key stays. */
  readonly verdict: UpstreamVerdict;
  /** Milliseconds that the server requests as a delay. */
  readonly retryAfterMs?: number | undefined;
  /**
   * End of the call that revokes the token of the login. If it fails, the token lives until its
   * role ends it.
   */
  readonly after?: Promise<unknown>;
}

/**
 * Least time from the end of a CA to that of its issuer. The clocks of Vault and of the API server
 * may differ.
 */
const END_MARGIN_SECONDS = 300;

/** A part of the calls that failed, in place of its value. */
class Failure {
  readonly result: VaultResult;
  constructor(result: VaultResult) {
    this.result = result;
  }
}

/**
 * Has Vault sign a CA. Checks the issuers before Vault signs, and shortens the life of the CA to
 * theirs. Texts of Vault are quoted, and have no token.
 */
export async function signByVault(
  exchange: Pick<Exchange, 'send'>,
  order: VaultOrder,
): Promise<VaultResult> {
  const issuers = await readIssuers(exchange, order);
  if (issuers instanceof Failure) return issuers.result;
  const seconds = lifeOf(issuers, order);
  if (seconds instanceof Failure) return seconds.result;
  const token = await logIn(exchange, order);
  if (token instanceof VaultFailure) return failed(token).result;
  const result = await sign(exchange, order, { token, seconds, issuers });
  const after = exchange.send(logOutCall(order.vault, token));
  return { ...result, after };
}

/** Returns the certificates of the issuer and its issuers (PEM). Undefined if Vault hides them. */
async function readIssuers(
  { send }: Pick<Exchange, 'send'>,
  order: VaultOrder,
): Promise<readonly string[] | undefined | Failure> {
  const { mount, issuer = 'default' } = order.vault;
  // Vault requires no token here, and returns no secret.
  const answer = await send(callOf(order.vault, 'GET', `${mount}/issuer/${issuer}/json`));
  if (!('status' in answer)) return failed(unreachable(order, answer));
  const failure = failureOf(order, answer);
  if (failure !== undefined) return failed(failure);
  // Older versions have no such path, and a proxy may deny it. The chain is checked later.
  return answer.status === 200 ? certificatesOf(answer) : undefined;
}

/** Returns the seconds for which the CA may live below these issuers. */
function lifeOf(
  issuers: readonly string[] | undefined,
  { wanted, durationSeconds, now }: VaultOrder,
): number | Failure {
  if (issuers === undefined) return durationSeconds;
  const read = attempt(() => readCertificates(issuers.join('')));
  const [first, ...more] = read instanceof SignerError ? [] : read;
  if (read instanceof SignerError) return refusedBy(malformedChain(read.message));
  if (first === undefined) return durationSeconds;
  const end = judgeIssuers([first, ...more], wanted, now);
  if (typeof end !== 'number') return refusedBy(end);
  const left = Math.floor((end - now) / 1000) - END_MARGIN_SECONDS;
  return Math.max(1, Math.min(durationSeconds, left));
}

async function sign(
  { send }: Pick<Exchange, 'send'>,
  order: VaultOrder,
  {
    token,
    seconds,
    issuers = [],
  }: {
    readonly token: string;
    readonly seconds: number;
    readonly issuers: readonly string[] | undefined;
  },
): Promise<VaultResult> {
  const { vault, pending } = order;
  const path = signPath(vault);
  const body = JSON.stringify(wantedCertificate(pending, seconds));
  const answer = await send(callOf(vault, 'POST', path, { body, token }));
  if (!('status' in answer)) {
    return answer.mayHaveArrived
      ? lostAnswer(order, answer.detail)
      : failed(unreachable(order, answer)).result;
  }
  const failure = failureOf(order, answer, token);
  if (failure !== undefined) return failed(failure).result;
  if (answer.status !== 200) return signRefused(order, path, answer, token);
  const certificates = certificatesOf(answer);
  if (certificates === undefined) return lostAnswer(order, unreadable(vault.server));
  const chain = endsInRoot(certificates)
    ? certificates
    : [...new Set([...certificates, ...issuers])];
  return { outcome: 'signed', verdict: { kind: 'chain', chain: chain.join('') } };
}

function signPath({ mount, issuer }: VaultUpstream): string {
  return `${mount}/${issuer === undefined ? 'root' : `issuer/${issuer}`}/sign-intermediate`;
}

/** Returns the certificate to request. Vault takes nothing else of the PKCS#10 than its key. */
function wantedCertificate({ request, pem }: PendingRequest, seconds: number): object {
  return {
    csr: pem,
    use_csr_values: false,
    common_name: commonNamesOf(request.subject)[0] ?? '',
    exclude_cn_from_sans: true,
    max_path_length: request.pathLen ?? 0,
    ttl: `${seconds}s`,
    format: 'pem',
  };
}

/** Reports whether the last of these certificates is a root. */
function endsInRoot(certificates: readonly string[]): boolean {
  const read = attempt(() => readCertificates(certificates.at(-1) ?? ''));
  const [last] = read instanceof SignerError ? [] : read;
  return last !== undefined && isSelfSigned(last);
}

function signRefused(
  { vault, token: ours }: VaultOrder,
  path: string,
  answer: HttpAnswer,
  token: string,
): VaultResult {
  const problem = errorText(answer, [ours, token]);
  const isDenied = answer.status === 403;
  const text = isDenied ? messages.vaultSignDenied : messages.vaultSignFailed;
  const reason = isDenied ? 'RequestDenied' : 'RequestFailed';
  return refusedBy(refusal(reason, text(vault.server, path, problem))).result;
}

/** Returns the result of a call that Vault did not decide, or a login that it denied. */
function failed({ how, message, retryAfterMs }: VaultFailure): Failure {
  if (how === 'denied') return refusedBy(refusal('RequestDenied', message));
  return new Failure({ outcome: 'unavailable', verdict: unavailableFor(message), retryAfterMs });
}

function lostAnswer({ vault, token }: VaultOrder, detail: string): VaultResult {
  const problem = lost(vault.server, withoutTokens(detail, [token]));
  return { outcome: 'lost', verdict: unavailableFor(problem) };
}

function unavailableFor(problem: string): UpstreamVerdict {
  return { kind: 'unavailable', refusal: refusal('UpstreamUnavailable', problem) };
}

/** Returns a refusal before anything was signed, so that the same key is tried again. */
function refusedBy(found: ChainRefusal): Failure {
  return new Failure({ outcome: 'refused', verdict: { kind: 'unavailable', refusal: found } });
}

/** Returns the server and the paths of an order, for a log line. */
export function enginePlace({ server, mount, issuer }: VaultUpstream): string {
  return quote(`${server}/${mount}${issuer === undefined ? '' : `, issuer ${issuer}`}`, 300);
}
