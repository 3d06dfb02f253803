// SPDX-License-Identifier: Apache-2.0
import { findAccount } from '../acme/accounts.ts';
import { mapAnswer, unusable, type Answer, type Ok } from '../acme/answer.ts';
import { downloadPreferredChain } from '../acme/certificates.ts';
import {
  finalizeOrder,
  getAuthorization,
  getOrder,
  newOrder,
  type AcmeOrder,
} from '../acme/orders.ts';
import type { Authorization, Identifier } from '../acme/resources.ts';
import {
  afterAccount,
  afterAuthorization,
  afterDownload,
  afterFailedChallenge,
  afterOrder,
  afterWrongCertificate,
  type OrderAfter,
  type OrderBefore,
} from '../acme-orders/order-events.ts';
import type { OrderStep } from '../acme-orders/order-step.ts';
import type { AuthorizationRecord, ChallengeType } from '../acme-orders/record.ts';
import { SignerError, attempt } from '../errors.ts';
import { canonicalIp } from '../pki/names/canonical.ts';
import { quote } from '../quote.ts';
import { acceptChain, type AskedFor } from './accepted-chain.ts';
import type { AcmeSession } from './session.ts';

/** The types of challenges that solvers are for. */
const SOLVED: readonly ChallengeType[] = ['http-01', 'dns-01', 'dns-persist-01'];

/** What an Order asks for. */
export interface OrderRequest extends AskedFor {
  /** DER of the PKCS#10 request. */
  readonly csr: Uint8Array;
  readonly profile?: string | undefined;
  /** RFC 9773 id of the certificate that is renewed. */
  readonly replaces?: string | undefined;
  readonly preferredChain?: string | undefined;
}

/** Steps of an Order that are a call to the server, or follow from an answer of it. */
export type OrderCall = Exclude<
  OrderStep,
  { readonly step: 'createChallenge' | 'cleanUp' | 'wait' | 'done' }
>;

/** Takes one step of an Order. It is one call, but for a download with alternate chains. */
export async function takeOrderStep(
  session: AcmeSession,
  request: OrderRequest,
  step: OrderCall,
  before: OrderBefore,
): Promise<OrderAfter> {
  const { server, account } = session;
  const { url = '' } = before.record;
  switch (step.step) {
    case 'newOrder':
      return afterOrder(before, 'newOrder', await makeOrder(session, request, step.replaces));
    case 'readOrder':
      return afterOrder(before, 'read', await getOrder(server, account, url));
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
        mapAnswer(asked, (found) => recordOf(step.url, found)),
      );
    }
    case 'readAccount':
      return afterAccount(before, await findAccount(server, account.key));
    case 'download':
      return download(session, request, step.url, before);
    case 'giveUp':
      return afterFailedChallenge(before, step.challenge);
  }
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

/** Let's Encrypt gives addresses certificates of six days only. */
function profileOf(
  identifiers: readonly Identifier[],
  profiles: readonly string[],
): string | undefined {
  const hasAddress = identifiers.some(({ type }) => type === 'ip');
  return hasAddress && profiles.includes('shortlived') ? 'shortlived' : undefined;
}

/** A server that could name others would have solvers write records at any name that their credentials reach. */
function heldTo({ identifiers }: OrderRequest, answer: Ok<Authorization>): Answer<Authorization> {
  const { value } = answer.value.identifier;
  const names = identifiers.map((each) => spelled(each.value.replace(/^\*\./, '')));
  if (names.includes(spelled(value))) return answer;
  return unusable(`the authorization is for ${quote(value)}, which was not asked for`);
}

/** One text for one name or address. */
function spelled(name: string): string {
  const address = attempt(() => canonicalIp(name));
  return address instanceof SignerError ? name.toLowerCase() : address;
}

function recordOf(
  url: string,
  { identifier, status, wildcard, challenges }: Authorization,
): { readonly authorization: AuthorizationRecord; readonly state: Authorization['status'] } {
  // The others would fill the status of the Order: no solver has use for them, nor for a second one of a type.
  const solved = SOLVED.flatMap((type) => challenges.find((each) => each.type === type) ?? []);
  const offered = (solved.length > 0 ? solved : challenges.slice(0, 1)).map(
    ({ type, url: of, token }) => ({ type, url: of, token }),
  );
  const wasValid = status === 'valid';
  const authorization = { url, name: identifier.value, wildcard, wasValid, offered };
  return { authorization, state: status };
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
    ? afterWrongCertificate(before, `the CA returned ${accepted.wrong}`)
    : afterDownload(before, { kind: 'ok', value: accepted.pem });
}
