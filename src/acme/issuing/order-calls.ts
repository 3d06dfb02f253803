// SPDX-License-Identifier: Apache-2.0
import { findAccount } from '../protocol/accounts.ts';
import { mapAnswer, type Answer, type Ok } from '../protocol/answer.ts';
import { unusable } from '#base/egress/no-answer.ts';
import { downloadPreferredChain } from '../protocol/certificates.ts';
import {
  finalizeOrder,
  getAuthorization,
  getOrder,
  newOrder,
  type AcmeOrder,
} from '../protocol/orders.ts';
import type { Authorization, Identifier } from '../protocol/resources.ts';
import {
  afterAccount,
  afterAuthorization,
  afterDownload,
  afterOrder,
  afterWrongCertificate,
  type FoundAuthorization,
  type OrderAfter,
  type OrderBefore,
} from '../orders/order-events.ts';
import type { OrderStep } from '../orders/order-step.ts';
import { changed, type ChallengeType } from '../orders/status.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { canonicalIp } from '#pki/names/canonical.ts';
import { acceptChain, type RequestedCertificate } from './accepted-chain.ts';
import type { AcmeSession } from './session.ts';
import * as messages from './messages.ts';

/** Challenge types that solvers exist for. */
const SOLVED: readonly ChallengeType[] = ['http-01', 'dns-01', 'dns-persist-01'];

/** Contents of an Order's request for a certificate. */
export interface OrderRequest extends RequestedCertificate {
  /** DER of the PKCS#10 request. */
  readonly csr: Uint8Array;
  readonly profile?: string | undefined;
  /** RFC 9773 id of the certificate to renew. */
  readonly replaces?: string | undefined;
  readonly preferredChain?: string | undefined;
}

/** Steps of an Order that call the server. */
export type OrderCall = Exclude<
  OrderStep,
  { readonly step: 'createChallenge' | 'cleanUp' | 'giveUp' | 'wait' | 'done' }
>;

/** Takes one step of an Order. It makes one call, except for a download with alternate chains. */
export async function takeOrderStep(
  session: AcmeSession,
  request: OrderRequest,
  step: OrderCall,
  before: OrderBefore,
): Promise<OrderAfter> {
  const { server, account } = session;
  const { url = '' } = before.status;
  switch (step.step) {
    case 'newOrder': {
      const answer = await makeOrder(session, request, step.replaces);
      return ofAccount(afterOrder(before, 'newOrder', answer), account.account);
    }
    case 'readOrder':
      return afterOrder(before, 'readOrder', await getOrder(server, account, url));
    case 'finalize': {
      const order = { url, finalize: step.url };
      const answer = await finalizeOrder(server, account, order, request.csr);
      return afterOrder(before, 'finalize', answer);
    }
    case 'readAuthorization': {
      const answer = await getAuthorization(server, account, step.url);
      const asked = answer.kind === 'ok' ? heldTo(request, answer) : answer;
      return afterAuthorization(
        before,
        mapAnswer(asked, (found) => foundAt(step.url, found)),
      );
    }
    case 'readAccount':
      return afterAccount(before, await findAccount(server, account.key));
    case 'download':
      return download(session, request, step.url, before);
  }
}

/** Records the account of a new order. */
function ofAccount(after: OrderAfter, accountURL: string): OrderAfter {
  const { status } = after;
  return status.url === undefined ? after : { ...after, status: changed(status, { accountURL }) };
}

async function makeOrder(
  { server, account }: AcmeSession,
  { identifiers, profile, replaces }: OrderRequest,
  withReplaces: boolean,
): Promise<Answer<AcmeOrder>> {
  const directory = await server.directory();
  if (directory.kind !== 'ok') return directory;
  const asked = profile ?? profileOf(identifiers, directory.value.meta.profiles);
  return newOrder(server, account, {
    identifiers,
    ...(asked === undefined ? {} : { profile: asked }),
    ...(withReplaces && replaces !== undefined ? { replaces } : {}),
  });
}

/** Let's Encrypt issues certificates for addresses only in its six-day profile. */
function profileOf(
  identifiers: readonly Identifier[],
  profiles: readonly string[],
): string | undefined {
  const hasAddress = identifiers.some(({ type }) => type === 'ip');
  return hasAddress && profiles.includes('shortlived') ? 'shortlived' : undefined;
}

/**
 * Rejects an authorization for another name. Otherwise the server could have solvers write records
 * at any name that their credentials reach.
 */
function heldTo({ identifiers }: OrderRequest, answer: Ok<Authorization>): Answer<Authorization> {
  const { value } = answer.value.identifier;
  const names = identifiers.map((each) => spelled(each.value.replace(/^\*\./, '')));
  if (names.includes(spelled(value))) return answer;
  return unusable(messages.unknownAuthorization(value));
}

/** Returns one spelling for each name or address. */
function spelled(name: string): string {
  const address = attempt(() => canonicalIp(name));
  return address instanceof SignerError ? name.toLowerCase() : address;
}

function foundAt(
  url: string,
  { identifier, status, wildcard, challenges, expires }: Authorization,
): FoundAuthorization {
  // Keep one challenge of each type that a solver exists for. Others would fill the Order's status.
  const solved = SOLVED.flatMap((type) => challenges.find((each) => each.type === type) ?? []);
  const offered = (solved.length > 0 ? solved : challenges.slice(0, 1)).map(
    ({ type, url: of, token }) => ({ type, url: of, ...(token === undefined ? {} : { token }) }),
  );
  const wasValid = status === 'valid';
  const authorization = { url, name: identifier.value, wildcard, wasValid, offered };
  return { authorization, state: status, expires };
}

async function download(
  { server, account }: AcmeSession,
  request: OrderRequest,
  url: string,
  before: OrderBefore,
): Promise<OrderAfter> {
  const { preferredChain } = request;
  const answer = await downloadPreferredChain(server, account, url, { preferredChain });
  if (answer.kind !== 'ok') return afterDownload(before, answer);
  const accepted = acceptChain(answer.value, request, before.now);
  return 'wrong' in accepted
    ? afterWrongCertificate(before, messages.wrongCertificate(accepted.wrong), accepted.isOfCa)
    : afterDownload(before, { kind: 'ok', value: accepted.pem });
}
